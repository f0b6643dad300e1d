"""What a curator sees of a run: bars, what was dropped, what was charged and what stays charged."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from pathveil.cli import aftermath, stopping, streams
from pathveil.cli.commands.ledger import warn_if_nearly_spent
from pathveil.cli.console import (
    error_console,
    progress,
    reported_progress,
    say_step,
    stderr_console,
)
from pathveil.cli.options.reading import tell_reading
from pathveil.cli.summary import print_summary
from pathveil.core.parameters import Parameters
from pathveil.core.told_numbers import told
from pathveil.errors import PathveilError, ReleaseError
from pathveil.folders import Reserved
from pathveil.gate.grow_tree import Progress
from pathveil.ledger.charges import Account, Charge, Resumption, SeriesAccount
from pathveil.progress_reports import reported_to
from pathveil.publishing import Watch
from pathveil.raw.engines.request import Request
from pathveil.raw.reading import ReadingReport, Report
from pathveil.release.release import Release
from pathveil.release.signature import Signer
from pathveil.universe.universe import Universe

if TYPE_CHECKING:
    from pathveil.cli.progress_bar import Tell

_MEASURING: Final = 0.3  # of the time of a calibrated release, about; the rest is synthesis


class Terminal(Watch):
    """Accompanies a run of the command line.

    Args:
        place: where the bundle will be written; None if none will.
        csv: whether the bundle will have a CSV file.
        signer: who signs it.
    """

    def __init__(
        self, reserved: Reserved | None = None, *, csv: bool = False, signer: Signer | None = None
    ) -> None:
        super().__init__()
        cell_len("…")  # reads rich's table of how wide letters are: not when ε is charged
        self._reserved = reserved
        self._csv = csv
        self._signer = signer
        self._is_publishing = False
        self.found_nothing = False  # a dry run's visits were all dropped

    @contextmanager
    def rehearsing(self) -> Iterator[Path | None]:
        """Say that it begins."""
        say_step("Rehearsing with made-up people …")
        yield None if self._reserved is None else self._reserved.staging

    def rehearsed(self, release: Release, folder: Path) -> None:
        """Write the bundle and say all that a run says, to nobody."""
        self._write(release, folder / "release")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            stderr_console().print("ε", markup=False, highlight=False, soft_wrap=True)
            print_summary(release, folder, json=False)

    @contextmanager
    def charging(self, account: Account, parameters: Parameters) -> Iterator[None]:
        """Make sure that somebody can hear what becomes of it, and say that it begins.

        Said before, because a library can abort the process at any moment after, as `kill -9` can.
        """
        streams.check_open()
        if isinstance(account, Resumption):
            _say(f"Resuming on entry {account.number} of the ledger: nothing is charged.")
        else:
            _say(
                f"{_charging(account, parameters)}. If not a word follows, see "
                f"`pathveil ledger history {account.name}`."
            )
        stopping.check()
        try:
            yield
        except PathveilError:
            raise
        except BaseException:  # stopped at the very moment
            _say_even_if_quiet(
                f"ε = {parameters.budget} may be charged already: see `pathveil ledger history "
                f"{account.name}`."
            )
            raise

    @contextmanager
    def paid(self, charge: Charge) -> Iterator[None]:
        """Say what is left; if the run does not end well, say that the charge stays.

        And that it can be resumed, if it was not even begun to be used.
        """
        aftermath.paid()
        try:
            _tell_balance(charge)
            yield
        except BaseException:
            _say_even_if_quiet(str(charge))
            if not self._is_publishing and charge.share is None:
                number = charge.entry.number
                _say_even_if_quiet(
                    f"No noise was drawn: with --resume {number} the same run needs no new charge."
                )
            raise

    @contextmanager
    def reading(self, request: Request) -> Iterator[Report | None]:
        """A bar, and then the exact drop counts, on stderr only."""
        timed = request.parameters.time_grid is not None
        known = request.universe if isinstance(request.universe, Universe) else None
        with tell_reading(timed=timed, universe=known) as report:

            def noted(one: ReadingReport) -> None:
                self.found_nothing = one.findings is not None and one.findings.visits == 0
                report(one)

            yield noted

    @contextmanager
    def publishing(self, parameters: Parameters) -> Iterator[Progress]:
        """A bar: levels of the tree, or what is measured and then calibrated."""
        self._is_publishing = True
        is_calibrated = parameters.how.has_tables
        counting = _MEASURING if is_calibrated else 1.0
        words = "Measuring and calibrating" if is_calibrated else "Growing the noisy prefix tree"
        with progress(words, total=1) as tell:
            share = _Share(tell, parameters.how.passes(parameters), counting)
            share.within(0.0)
            with reported_to(share.within):
                yield share.passed

    def published(self, release: Release) -> None:
        """Write the bundle."""
        if self._reserved is not None:
            with reported_progress("Writing"):
                release.write(self._reserved, csv=self._csv, signer=self._signer)

    def _write(self, release: Release, directory: Path) -> None:
        """Write the bundle. Its errors would speak of a release, and there is none."""
        try:
            release.write(directory, csv=self._csv)
        except ReleaseError as error:
            refused = error.__context__
            number = refused.errno if isinstance(refused, OSError) else None
            reason = os.strerror(number) if number else "writing failed"
            beside = directory.parent.parent
            raise ReleaseError(
                f"Can't write a bundle in {beside.parent}, as a rehearsal found out: {reason}. "
                "Nothing was charged."
            ) from None


class _Share:
    """How much of a run is done: passes, and the part of the one under way; then the synthesis.

    Args:
        tell: who wants to know.
        passes: how many there are at most.
        counting: which share of the run they are; what is left of it is the synthesis.
    """

    def __init__(self, tell: "Tell", passes: int, counting: float) -> None:
        self._tell = tell
        self._done, self._every = 0, passes
        self._counting = counting

    def passed(self, done: int, every: int) -> None:
        """So many passes are done."""
        self._done, self._every = done, every
        self.within(0.0)

    def within(self, share: float) -> None:
        """So much of what is under way is done."""
        if self._done < self._every:
            so_far = self._counting * (self._done + share) / self._every
            self._tell(so_far, f"pass {self._done + 1} of at most {self._every}")
        else:
            so_far = self._counting + (1 - self._counting) * share
            self._tell(so_far, "synthesis" if self._counting < 1 else "")


def _charging(account: Account, parameters: Parameters) -> str:
    """What is charged; a release of a series takes a part of what was charged already."""
    if isinstance(account, SeriesAccount):
        rho = parameters.whole_rho
        part = f"ε = {parameters.budget}" if rho is None else f"ρ = {told(rho)}"
        return f"Taking {part} of series {account.series!r}, which {account.name!r} was charged for"
    return f"Charging ε = {told(parameters.budget.epsilon)} to {account.name!r}"


def _tell_balance(charge: Charge) -> None:
    account, now = charge.account, charge.account.ledger.now()
    if charge.share is not None:
        series = account.ledger.standing().books.one_series(charge.share.series)
        taken = told(Fraction(charge.share.rho or charge.budget.epsilon))
        _say(
            f"Release {charge.share.release} of {series.plan.releases} of series "
            f"{series.plan.series!r}, {charge.share.period}, took {series.unit} = {taken}, entry "
            f"{charge.entry.number}; {told(series.left)} of {told(series.total)} remains."
        )
        return
    dataset = account.ledger.standing().books.dataset(account.name)
    how = "Was charged before:" if isinstance(account, Resumption) else "Charged"
    left = told(dataset.remaining(now, account.population))
    _say(
        f"{how} ε = {told(charge.budget.epsilon)} to {account.name!r}, entry "
        f"{charge.entry.number}; {left} of {told(dataset.limit)} remains."
    )
    warn_if_nearly_spent(dataset, now)


def _say(message: str) -> None:
    stderr_console().print(message, markup=False, highlight=False, soft_wrap=True)


def _say_even_if_quiet(message: str) -> None:
    error_console().print(message, markup=False, highlight=False, soft_wrap=True)
