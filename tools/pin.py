"""Write the hashes of all files of every pinned version into requirements.txt: ``make pin``.

Reads name==version lines, asks the index that pip is configured with, and replaces the file. No
address is written. A version that its authors took back is refused.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from package_index import files_of
from pins import REQUIREMENTS, Pin, as_text, read_pins


def hashed(pin: Pin) -> Pin:
    """The pin with the hashes of all its files."""
    files = files_of(pin.key, pin.version)
    if all(file.is_yanked for file in files):
        raise SystemExit(f"{pin.name} {pin.version} was taken back by its authors: choose another.")
    hashes = {file.sha256 for file in files if file.sha256 and not file.is_yanked}
    if not hashes:
        raise SystemExit(f"The index tells no hash of {pin.name} {pin.version}.")
    return Pin(pin.name, pin.version, tuple(sorted(hashes)))


def main() -> None:
    """Rewrite the file."""
    with ThreadPoolExecutor(4) as pool:
        pins = list(pool.map(hashed, read_pins()))
    REQUIREMENTS.write_text(as_text(pins), encoding="utf-8")
    files = sum(len(pin.hashes) for pin in pins)
    print(f"{len(pins)} versions pinned with {files} hashes.")


if __name__ == "__main__":
    main()
