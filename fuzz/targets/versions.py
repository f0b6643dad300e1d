"""Whose words are they? A bundle that names another software or version, with one text changed.

The first byte chooses among three bundles, the second one of its texts; then a text that ends with
a NUL is the version, and the rest a patch of that file. All hashes fit.
"""

import hashlib
import json
import warnings
from pathlib import Path

from fuzz.bundles import bundles, lay_out
from fuzz.harness import Finding
from fuzz.patching import change, patched

from pathveil.errors import UnknownVersionWarning
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release.bundle import read_release, verify_bundle


def read(data: bytes, folder: Path) -> None:
    """Whatever is accepted in silence is the bundle as it was made."""
    which, file, rest = data[:1] or b"\0", data[1:2] or b"\0", data[2:]
    whole = bundles()[which[0] % len(bundles())]
    bundle = dict(whole)
    texts = sorted(name for name in bundle if name.endswith((".html", ".json", ".txt")))
    name = texts[file[0] % len(texts)]
    said, _, patch = rest.partition(b"\0")
    bundle[name] = patched(bundle[name], patch)
    bundle[CERTIFICATE_FILE] = _certificate(bundle, said.decode("utf-8", "replace"))
    directory = lay_out(bundle, folder)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UnknownVersionWarning)
        read_release(directory)
    is_same = bundle[name] == whole[name] and not said
    if bool(told) != bool(said):
        raise Finding("a version that is not ours is not warned of")
    verify_bundle(directory)
    if not is_same and name != CERTIFICATE_FILE:
        raise Finding("verify passes a text that was changed")


def _certificate(bundle: dict[str, bytes], said: str) -> bytes:
    """With the version, and with hashes that fit; as it is if it can't be read any more."""
    try:
        certificate = json.loads(bundle[CERTIFICATE_FILE])
        if said:
            certificate["implementation"]["software_version"] = said
        for name in certificate["files"]:
            digest = hashlib.sha256(bundle[name]).hexdigest()
            certificate["files"][name] = {"sha256": digest, "bytes": len(bundle[name])}
        return json.dumps(certificate, indent=2, ensure_ascii=False).encode() + b"\n"
    except (ValueError, KeyError, TypeError, RecursionError):
        return bundle[CERTIFICATE_FILE]


def seeds() -> dict[str, bytes]:
    """No other version, two others, and a script in each text."""
    script = change(2000, 0, b"<script>")
    made = {f"same-{which}": bytes((which, 0)) for which in range(len(bundles()))}
    made |= {f"other-{i}": bytes((0, i)) + b"9.9.9\0" + script for i in range(4)}
    return made | {f"changed-{i}": bytes((1, i)) + b"\0" + script for i in range(4)}
