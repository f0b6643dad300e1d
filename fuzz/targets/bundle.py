"""A whole bundle: the input chooses one of its files, and is a patch of that file.

It also chooses among three bundles, and whether the hashes are made to fit again; otherwise only
the hashes would be tested.
"""

import hashlib
import json
from pathlib import Path

from fuzz.bundles import Bundle, bundles, lay_out
from fuzz.patching import change, patched

from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release.bundle import verify_bundle
from pathveil.release.signature import check_signature

HEAD = 3
REPLACE = 2  # bit of the third byte: the rest is the whole file, not a patch


def read(data: bytes, folder: Path) -> None:
    """Verify it, and use what was accepted."""
    which, file, how = data[:HEAD].ljust(HEAD, b"\0")
    bundle = dict(bundles()[which % len(bundles())])
    name = sorted(bundle)[file % len(bundle)]
    rest = data[HEAD:]
    bundle[name] = rest if how & REPLACE else patched(bundle[name], rest)
    if how & 1 and name != CERTIFICATE_FILE:
        _rehash(bundle, name)
    directory = lay_out(bundle, folder)
    release = verify_bundle(directory)
    check_signature(directory)
    release.to_sequences()


def _rehash(bundle: Bundle, name: str) -> None:
    certificate = json.loads(bundle[CERTIFICATE_FILE])
    content = bundle[name]
    digest = hashlib.sha256(content).hexdigest()
    certificate["files"][name] = {"sha256": digest, "bytes": len(content)}
    bundle[CERTIFICATE_FILE] = json.dumps(certificate, indent=2).encode()


def seeds() -> dict[str, bytes]:
    """Every file as it is with fitting hashes; a change in the middle of each; no file at all."""
    made = {}
    for which, bundle in enumerate(bundles()):
        for file, name in enumerate(sorted(bundle)):
            middle = len(bundle[name]) // 2 % 2**16
            head = bytes((which, file, 1))
            made[f"{which}-{name}"] = head
            made[f"{which}-{name}-changed"] = head + change(middle, 1, b"\xff")
            if name.endswith(".csv"):
                made[f"{which}-{name}-whole"] = bytes((which, file, 1 | REPLACE)) + bundle[name]
    return made
