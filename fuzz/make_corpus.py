"""Write the seeds of every target into ``fuzz/corpus``: ``python -m fuzz.make_corpus``.

What lies there already stays: a fuzzer may have found it, and old layouts are inputs too.
"""

from fuzz.harness import HERE, names, target


def main() -> None:
    """Write those that are not there."""
    for name in names():
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, content in target(name).seeds().items():
            path = folder / seed
            if not path.exists():
                path.write_bytes(content)


if __name__ == "__main__":
    main()
