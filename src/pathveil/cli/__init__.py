"""The command line. Heavy imports wait until a command runs, so `--help` answers at once."""


def main() -> None:
    """Entry point of the ``pathveil`` console script."""
    import sys

    from pathveil.cli.run import run

    sys.exit(run(sys.argv[1:]))
