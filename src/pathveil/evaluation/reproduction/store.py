"""Finished cells on disk, one JSON line each, so that a stopped run goes on where it stopped."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pathveil.errors import ParameterError, ReleaseError
from pathveil.evaluation.internal import PREFIX, refuse_bundle, stamped, write_internal
from pathveil.evaluation.reproduction.cells import AccuracyResult, RuntimeResult
from pathveil.evaluation.reproduction.plan import AccuracyCell, RuntimeCell

SETTINGS = f"{PREFIX}settings.json"
CELLS = f"{PREFIX}cells.jsonl"

Cell = AccuracyCell | RuntimeCell
Result = AccuracyResult | RuntimeResult


class Store:
    """The results in a folder. INTERNAL.

    Args:
        folder: made if it is missing.
        settings: what must not differ between the runs whose cells are pooled.

    Raises:
        ReleaseError: if the folder is a release bundle or can't be written.
        ParameterError: if it holds the cells of another experiment.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        refuse_bundle(folder)
        self.folder = folder
        self._path = folder / CELLS
        self.results: dict[Cell, Result] = {}
        self._settle(settings)
        self._read()

    def add(self, cell: Cell, result: Result) -> None:
        """Keep a result, on disk at once."""
        line = json.dumps({"cell": asdict(cell), "result": asdict(result)})
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise ReleaseError(f"Can't write {self._path}: {error.strerror}.") from None
        self.results[cell] = result

    def _settle(self, settings: Mapping[str, object]) -> None:
        path = self.folder / SETTINGS
        wanted = json.loads(json.dumps(stamped(settings)))
        if not path.exists():
            write_internal(path, json.dumps(wanted, indent=2) + "\n")
            return
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        if not isinstance(found, dict) or found != wanted:
            differing = sorted(
                key
                for key in wanted
                if not isinstance(found, dict) or found.get(key) != wanted[key]
            )
            raise ParameterError(
                f"{self.folder} holds another experiment (it differs in "
                f"{', '.join(differing) or 'its settings'}). Choose a new folder."
            )

    def _read(self) -> None:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ReleaseError(f"Can't read {self._path}: {error.strerror}.") from None
        for line in lines:
            entry = _entry(line)
            if entry is not None:
                self.results[entry[0]] = entry[1]


def _entry(line: str) -> tuple[Cell, Result] | None:
    """A finished cell; None for a line that a stopped run left half-written."""
    try:
        entry = json.loads(line)
        cell, result = entry["cell"], entry["result"]
        if "panel" in cell:
            return RuntimeCell(**cell), RuntimeResult(**result)
        return AccuracyCell(**cell), AccuracyResult(**_tuples(result))
    except (ValueError, KeyError, TypeError):
        return None


def _tuples(result: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in result.items()}
