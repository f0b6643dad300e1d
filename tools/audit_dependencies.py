"""Check the dependencies: ``make audit-deps``. Says what was checked and what could not be.

Offline, from metadata: what is installed is what is pinned, and nothing else; every pin has
hashes; nothing that is needed is missing (pip check); every licence is known and allowed. With an
index: no version was taken back by its authors. With pip-audit installed and its service within
reach: no known vulnerability.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # beside this file, run or imported

from package_index import files_of
from pins import REQUIREMENTS, normal, read_pins

NOT_PINNED = {"pip", "setuptools", "wheel", "pathveil"}
ALLOWED = re.compile(
    r"\b(Apache|MIT|BSD|0BSD|ISC|PSF|Python-2|Python Software Foundation|MPL|Mozilla Public|Zlib|"
    r"Unlicense|CC0|Public Domain|HPND|PostgreSQL)",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"\b(A?GPL|General Public)", re.IGNORECASE)
# Weak copyleft is allowed where we only import it, unchanged, and only in extras and tests.
LESSER = re.compile(r"\bL(esser )?(GPL|General Public)", re.IGNORECASE)


class UnreachableError(Exception):
    """A service that a check needs does not answer."""


def installed() -> dict[str, Distribution]:
    """What is installed here, by normal name."""
    return {normal(each.metadata["Name"]): each for each in distributions()}


def installed_is_pinned() -> Iterator[str]:
    """Problems: versions that differ, what is missing, what is extra."""
    here, pins = installed(), {pin.key: pin for pin in read_pins()}
    for key, pin in pins.items():
        if key not in here:
            yield f"{pin.name} is pinned but not installed"
        elif here[key].version != pin.version:
            yield f"{pin.name} {here[key].version} is installed, {pin.version} is pinned"
    for key in sorted(here.keys() - pins.keys() - NOT_PINNED):
        yield f"{key} {here[key].version} is installed but not pinned"


def every_pin_has_hashes() -> Iterator[str]:
    """Problems: pins that pip could not check."""
    for pin in read_pins():
        if not pin.hashes:
            yield f"{pin.name} has no hash: run make pin"


def nothing_is_missing() -> Iterator[str]:
    """Problems: what pip check finds."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        yield from done.stdout.splitlines()


def licence_of(package: Distribution) -> str:
    """What the metadata says, shortest form first."""
    metadata = package.metadata
    classifiers = [c for c in metadata.get_all("Classifier", []) if c.startswith("License ::")]
    text = metadata.get("License-Expression") or "; ".join(classifiers)
    if not text or text.endswith("OSI Approved"):
        text = (metadata.get("License") or "").strip()[:200]
    return text


def is_allowed(licence: str) -> bool:
    """Permissive, or weak copyleft; strong copyleft only if another licence is offered."""
    rest = LESSER.sub("", licence)
    if COPYLEFT.search(rest):
        return " OR " in licence and bool(ALLOWED.search(rest))
    return bool(ALLOWED.search(licence) or LESSER.search(licence))


def licences_are_allowed() -> Iterator[str]:
    """Problems: licences that nobody knows or that we can't use."""
    here = installed()
    for pin in read_pins():
        if pin.key not in here:
            continue
        licence = licence_of(here[pin.key])
        if not is_allowed(licence):
            yield f"{pin.name}: {licence[:80]!r} is unknown or not allowed"


def nothing_was_taken_back() -> Iterator[str]:
    """Problems: yanked versions, by the index."""
    for pin in read_pins():
        try:
            files = files_of(pin.key, pin.version)
        except LookupError as error:
            yield str(error)
        except OSError as error:
            raise UnreachableError("the package index does not answer") from error
        else:
            if all(file.is_yanked for file in files):
                yield f"{pin.name} {pin.version} was taken back by its authors"


def no_known_vulnerability() -> Iterator[str]:
    """Problems: what pip-audit knows, if it is installed and its service answers."""
    program = shutil.which("pip-audit")
    if not program:
        raise UnreachableError("pip-audit is not installed")
    done = subprocess.run(
        [program, "-r", str(REQUIREMENTS), "--no-deps", "--disable-pip", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        audited = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        raise UnreachableError("pip-audit's service does not answer") from None
    skipped = [each["name"] for each in audited if "skip_reason" in each]
    if len(skipped) == len(audited):
        raise UnreachableError("pip-audit's service knows none of the packages")
    for name in skipped:
        yield f"{name} could not be audited"
    for each in audited:
        for flaw in each.get("vulns", []):
            yield f"{each['name']} {each['version']}: {flaw['id']}"


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "what is installed is what is pinned": installed_is_pinned,
    "every pin has hashes": every_pin_has_hashes,
    "nothing is missing (pip check)": nothing_is_missing,
    "every licence is known and allowed": licences_are_allowed,
    "no version was taken back (index)": nothing_was_taken_back,
    "no known vulnerability (pip-audit)": no_known_vulnerability,
}


def main() -> int:
    """Run every check; 1 if one of them found something."""
    code = 0
    for name, check in CHECKS.items():
        try:
            problems = list(check())
        except UnreachableError as reason:
            print(f"NOT CHECKED  {name}: {reason}")
            continue
        print(f"{'FAILED' if problems else 'ok':12} {name}")
        for problem in problems:
            print(f"             {problem}")
        code = code or bool(problems)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
