"""Options that travel together are one frozen value, in a command's signature too.

A command takes such a value as one parameter. `with_groups` shows the command line the options in
its place, each a field of the value, and makes the value of what was typed.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, with the fields of its groups as options of its own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    if not groups:
        return command

    @functools.wraps(command)
    def run(**given: Any) -> None:
        values = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **values)

    shown: Any = run
    parameters = list(_parameters(command, hints, groups))
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _parameters(
    command: Callable[..., None], hints: dict[str, Any], groups: dict[str, Any]
) -> Iterator[inspect.Parameter]:
    keyword = inspect.Parameter.KEYWORD_ONLY  # by name: then any order of defaults will do
    for one in inspect.signature(command).parameters.values():
        if one.name not in groups:
            yield one.replace(kind=keyword, annotation=hints[one.name])
            continue
        kinds = get_type_hints(groups[one.name], include_extras=True)
        for field in fields(groups[one.name]):
            yield inspect.Parameter(
                field.name, keyword, default=_default(field), annotation=kinds[field.name]
            )


def _default(field: "Field[Any]") -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
