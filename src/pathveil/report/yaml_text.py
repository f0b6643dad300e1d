"""YAML, as much of it as a registry entry needs.

Text on one line is written as JSON writes it, which YAML reads the same; text on several lines
as a literal block, which people can read.
"""

import json


def yaml_text(value: object, indent: str = "") -> str:
    """A mapping or a list, in block form."""
    if isinstance(value, dict):
        return "".join(f"{indent}{key}:{_nested(item, indent)}" for key, item in value.items())
    if isinstance(value, list):
        return "".join(f"{indent}-{_nested(item, indent)}" for item in value)
    raise TypeError(f"YAML text of a {type(value).__name__} stands in a mapping or a list.")


def _nested(value: object, indent: str) -> str:
    deeper = f"{indent}  "
    if isinstance(value, dict | list):
        return f"\n{yaml_text(value, deeper)}"
    if isinstance(value, str) and "\n" in value:
        return " |-\n" + "".join(f"{deeper}{line}\n" for line in value.split("\n"))
    return f" {json.dumps(value, ensure_ascii=False)}\n"
