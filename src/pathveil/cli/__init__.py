"""The command line. Heavy imports wait until a command runs, so `--help` answers at once."""


def main() -> None:
    """Entry point of the ``pathveil`` console script."""
    from pathveil.own_code import leave_out_current_folder

    leave_out_current_folder()  # before anything else is imported

    from pathveil.cli import stopping

    stopping.listen()  # before all that takes time to import

    import gc
    import sys

    # A command makes hundreds of thousands of objects while it imports, and they all stay. Looking
    # through them for garbage as often as Python does, and once more at the end, took a third of a
    # short command.
    gc.set_threshold(50_000)

    from pathveil.cli import panics
    from pathveil.cli.run import run

    code = run(sys.argv[1:])
    stopping.ignore()
    panics.hush()  # Python itself may lack memory on its way out
    gc.freeze()  # what is left goes with the process
    sys.exit(code)
