"""Algorithm 1 of the paper: from a private trajectory database to a release, on one screen."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import numpy as np

from pathveil.core.about import About
from pathveil.core.acceptance import Acceptance
from pathveil.core.methods import (
    BASIC,
    CALIBRATED,
    DEFAULT_METHOD,
    EVERYTHING,
    FULL,
    Method,
    MethodName,
)
from pathveil.core.parameters import DEFAULT_MAX_NODES, Parameters
from pathveil.core.paths import Paths
from pathveil.errors import ParameterError
from pathveil.gate.grow_hierarchy import grow
from pathveil.gate.grow_tree import Progress
from pathveil.gate.measure import compile_cells, measure
from pathveil.gate.prepare import prepare
from pathveil.gate.randomness import ByteGenerator, Randomness
from pathveil.ledger.charges import Account, Charge, SeriesAccount
from pathveil.methods.calibrated import post_processing as calibrated
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.uncertainty.likelihood import compile_likelihoods
from pathveil.methods.calibrated.uncertainty.released_cells import compile_together
from pathveil.methods.paper import generate as paper
from pathveil.raw.engines.engine import AUTO, Trajectories, is_read
from pathveil.raw.engines.memory_size import DEFAULT_MEMORY
from pathveil.raw.engines.request import Request
from pathveil.raw.reading import Report
from pathveil.raw.reading_plan import Reading
from pathveil.rehearsal import NotPrivate, made_up
from pathveil.release.previous import read_earlier
from pathveil.release.release import Release, extended
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.planner import Planner
from pathveil.statistics.validation_queries import drawn_queries
from pathveil.times.protected_units import protected_by
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe


def publish(
    database: Trajectories | Any,
    *,
    epsilon: object = None,
    height: int | str | None = None,
    epsilon_per_trip: object = None,
    method: MethodName = DEFAULT_METHOD,
    purpose: str = EVERYTHING,
    threshold: object = "auto",
    max_nodes: int = DEFAULT_MAX_NODES,
    delta: object = None,
    rho: object = None,
    taxonomy: Taxonomy | None = None,
    ledger: Account | None = None,
    generator: ByteGenerator | None = None,
    progress: Progress = lambda _done, _height: None,
    universe: Universe | Literal["discover"] | None = None,
    engine: str = AUTO,
    memory: str = DEFAULT_MEMORY,
    spill: str | os.PathLike[str] | None = None,
    master: str | None = None,
    about: About | Mapping[str, object] | str | os.PathLike[str] | None = None,
    background: str | os.PathLike[str] | None = None,
    previous: str | os.PathLike[str] | None = None,
    accept: Acceptance | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    **reading: Any,
) -> Release:
    """Publish a trajectory database under ε-differential privacy.

    Args:
        database: the private trajectories; or, with a ``universe``, where they are: whatever
            `read_trajectories` reads, or a Spark DataFrame.
        epsilon: the total privacy budget of a unit, as text (``"1"``, ``"0.5"``) or an exact
            number.
        height: for "basic" and "full": h, the height of the prefix tree: trajectories are cut
            after h locations; or "auto", which spends a twentieth of ε on choosing it
            (`core.preparations`). "calibrated" needs none: it plans from a noisy first look how
            much of a trajectory each table looks at, and a number is only the most that it may.
        epsilon_per_trip: instead of ``epsilon``: ε for each trajectory that is used. A unit's is
            c times that, c being the database's ``max_trajectories_per_unit``. Of a unit with
            more than c, one trajectory by itself has less protection (docs/people.md).
        method: "basic", "full" (with constrained inference) or "calibrated" (more
            measurements, and synthetic trajectories calibrated to them).
        purpose: what "calibrated" is to be good at: "everything", "stops" (how many visit each
            location), "flows" (who goes from where to where), "patterns" (frequent journeys) or
            "hours" (when, with a time grid). It shifts budget between tables, nothing else.
        threshold: θ: "auto", "paper" or a whole number of trajectories ("calibrated": "auto").
        max_nodes: refuse parameters whose expected tree is larger.
        delta: δ, as text such as "1e-9". With a public universe "calibrated" then adds Gaussian
            noise, which is smaller, for a promise of (ε, δ); if the database was read with
            universe="discover", δ is that of naming its labels.
        rho: instead of ``epsilon``, with ``delta``: ρ, as text; ε is what follows from it at δ.
        taxonomy: the public zones of the locations. "calibrated" counts visits by zone and gives
            those that no count can name a location of the right zone; "basic" and "full" count,
            and release, sparse branches at the level of zones.
        ledger: what to charge ε to, before anything is counted:
            ``Ledger.open(file).dataset("taps")``. It stays charged if anything fails later, so
            what can fail is tried first: people who are made up are published, for nothing. Or a
            release of a series, ``Ledger.open(file).series("taps", "2026-03")``, which has its
            budget from there.
        generator: for tests only: where the noise comes from. The release is then stamped
            NOT PRIVATE.
        progress: called with (levels grown, height).
        universe: the public universe, if ``database`` is yet to be read.
        engine: what reads and counts it: "memory", "duckdb" (out of core), "spark", or "auto"
            (`raw.engines.engine`). All of them do everything, and give the same release.
        memory: about how much memory "duckdb" may use.
        spill: an existing folder for its temporary files.
        master: the Spark cluster that counts what is not a DataFrame: "spark://host:7077",
            "local[2]". One of its workers reads what Spark itself does not.
        about: what you say of the release, and what becomes public with it: its ``title``,
            ``publisher``, ``licence``, ``contact``, ``period`` and ``city``, as a
            `pathveil.About`, a dictionary or a TOML file.
        background: a public GeoJSON file, or a GTFS feed with shapes, whose lines lie under the
            maps of the release.
        previous: the bundle of an earlier release of the series that ``ledger`` is of: the new
            tables lean on it as far as they say that it is right.
        accept: rules that the release must keep to go out, by name (``suppress_below``,
            ``most_suppressed``, ``noise``, ``error``) or a TOML file with them. What no plan
            can keep is refused before the charge, the release itself before it is returned.
        **reading: the columns and rules by which it is read: ``unit``, ``order`` … of
            `pathveil.Reading`.

    Raises:
        ParameterError: if a parameter can't be used; nothing has been spent then.
        LedgerError: if the ledger refuses the charge; nothing has been spent then.
        ReleaseError: if the release does not keep the rules; its ε is spent all the same.
    """
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "epsilon_per_trip": epsilon_per_trip,
        "delta": delta,
        "rho": rho,
    }
    asked = Request.choose(
        database,
        universe,
        Reading.of(reading) if reading or not (is_read(database) or universe is None) else None,
        **(given if ledger is None else ledger.budget(**given)),
        height=height,
        threshold=threshold,
        method=method,
        purpose=purpose,
        max_nodes=max_nodes,
        taxonomy=taxonomy,
        engine=engine,
        memory=memory,
        spill=spill,
        master=master,
        about=about,
        background=background,
        accept=accept,
    )
    asked, ledger = starting_from(previous, asked, ledger)
    return carry_out(asked, Randomness(generator), ledger, Watch(progress))


def starting_from(
    previous: str | os.PathLike[str] | None, request: Request, account: Account | None
) -> tuple[Request, Account | None]:
    """The same run, leaning on an earlier release of its series; nothing is charged yet.

    Raises:
        ParameterError: if the run is not of a series, by the calibrated method, over a public list.
        ReleaseError: if the bundle can't be trusted.
        LedgerError: if the ledger does not hold it as a release of the series.
    """
    if previous is None:
        return request, account
    universe = request.source.universe if is_read(request.source) else request.universe
    if not isinstance(account, SeriesAccount):
        raise ParameterError("An earlier release is of a series: name the series, too.")
    if not request.parameters.how.has_tables or not isinstance(universe, Universe):
        raise ParameterError(
            "An earlier release serves the method 'calibrated', with a public list of locations."
        )
    earlier = read_earlier(Path(previous), account, universe)
    return replace(request, earlier=earlier.paths), replace(account, previous=earlier.sha256)


class Watch:
    """Who accompanies a run: hears of its steps and may stop it. This one is silent.

    Each step is a block that it surrounds, so it sees how the step ends.

    Args:
        progress: called with (levels grown, height).
    """

    def __init__(self, progress: Progress = lambda _done, _height: None) -> None:
        self._progress = progress

    @contextmanager
    def rehearsing(self) -> Iterator[Path | None]:
        """While made-up people are published; says where a bundle of theirs can be written."""
        yield None

    def rehearsed(self, _release: Release, _folder: Path) -> None:
        """The rehearsal went well: the made-up release, and a folder that is removed next."""

    @contextmanager
    def charging(self, _account: Account, _parameters: Parameters) -> Iterator[None]:
        """While ε is charged; the last moment at which a run can be stopped for nothing."""
        yield

    @contextmanager
    def paid(self, _charge: Charge) -> Iterator[None]:
        """All that comes after the charge, which stays."""
        yield

    @contextmanager
    def reading(self, _request: Request) -> Iterator[Report | None]:
        """While the data is read; may want to hear what was dropped."""
        yield None

    @contextmanager
    def publishing(self, _parameters: Parameters) -> Iterator[Progress]:
        """While it is counted and published."""
        yield self._progress

    def published(self, _release: Release) -> None:
        """The release is there. What goes wrong here still tells of the charge."""


def carry_out(
    request: Request,
    randomness: Randomness,
    account: Account | None = None,
    watch: Watch | None = None,
) -> Release:
    """Rehearse, charge, read, publish: the one way to a release, from Python or a command line.

    Args:
        request: what is published and how.
        randomness: where the noise comes from.
        account: what to charge ε to. It stays charged if anything fails after that.
        watch: who accompanies the run.

    Raises:
        ParameterError: if noise that is injected were to be charged, or the columns of the data,
            which are looked at before the charge, do not fit; nothing has been spent then.
        LedgerError: if the ledger refuses the charge; nothing has been spent then.
    """
    watch = Watch() if watch is None else watch
    if account is None:
        return _read_and_publish(request, randomness, watch, None)
    if not randomness.is_private:
        raise ParameterError("Injected noise protects nobody: it is not charged to a ledger.")
    parameters = request.parameters
    spent = parameters.budget, parameters.delta, parameters.whole_rho, request.protect
    account.check_affords(*spent)
    checked = request.checked()
    _rehearse(request, watch)
    with watch.charging(account, parameters):
        charge = account.charge(*spent)
    with watch.paid(charge), _noted(charge):
        return _read_and_publish(checked, randomness, watch, charge)


def dry_run(request: Request, watch: Watch) -> None:
    """Read the data as a run would, and forget it: nothing is published, nothing charged."""
    with _opened(request, watch, inspect=True):
        pass


def _rehearse(request: Request, watch: Watch) -> None:
    with watch.rehearsing() as beside, TemporaryDirectory(prefix="rehearsal-", dir=beside) as name:
        if request.parameters.how.has_tables:
            compile_cells(is_timed=request.parameters.time_grid is not None)
            compile_likelihoods()
            compile_together()
        release = carry_out(made_up(request, Path(name)), Randomness(NotPrivate()))
        watch.rehearsed(release, Path(name))


def _read_and_publish(
    request: Request, randomness: Randomness, watch: Watch, charge: Charge | None
) -> Release:
    parameters = request.parameters
    with _opened(request, watch) as opened, watch.publishing(parameters) as progress:
        release = publish_with(opened, parameters, randomness, progress, charge, request.earlier)
    release = release.described(request.about).on(request.background)
    release = release.accepted(request.acceptance)
    watch.published(release)
    return release


@contextmanager
def _opened(request: Request, watch: Watch, *, inspect: bool = False) -> Iterator[Trajectories]:
    with ExitStack() as stack:
        with watch.reading(request) as report:
            opened = stack.enter_context(request.opened(report, inspect=inspect))
        yield opened


def publish_with(
    database: Trajectories,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
    charge: Charge | None = None,
    earlier: Paths | None = None,
) -> Release:
    """Publish with parameters that were chosen, checked and charged before the data was read.

    The charge is used up before anything is drawn: it pays for this release and no other.

    Raises:
        ParameterError: if the charge is not for these parameters, or the noise is injected.
        LedgerError: if the charge paid for a release already.
    """
    spent = parameters.budget, parameters.delta, parameters.whole_rho, protected_by(database.rules)
    if charge is not None and (charge.budget, charge.delta, charge.rho, charge.protect) != spent:
        raise ParameterError("The charge is not the budget of the parameters, or not of this unit.")
    if charge is not None and not randomness.is_private:
        raise ParameterError("Injected noise protects nobody: it is not charged to a ledger.")
    with _noted(charge):
        if charge is not None:
            charge.begin()
        release = _publish(database, parameters, randomness, progress, earlier)
        return release.read_by(database.rules).paid_by(charge)


@contextmanager
def _noted(charge: Charge | None) -> Iterator[None]:
    """Say, once, on whatever goes wrong that the charge stays."""
    try:
        yield
    except BaseException as error:
        if charge is not None and str(charge) not in getattr(error, "__notes__", ()):
            error.add_note(str(charge))
        raise


def _publish(
    database: Trajectories,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress,
    earlier: Paths | None,
) -> Release:
    database, parameters = prepare(database, parameters, randomness)
    return PUBLISHED_BY[parameters.how](database, parameters, randomness, progress, earlier)


def _publish_tree(
    database: Trajectories,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress,
    _earlier: Paths | None = None,
) -> Release:
    """The paper's methods: one prefix tree, level by level."""
    tree = grow(database, parameters, randomness, progress)
    # From here on only the noisy tree is seen: post-processing, which spends nothing.
    released = paper.post_process(tree, randomness.fraction())
    return Release(extended(database.universe, parameters), released)


def _publish_tables(
    database: Trajectories,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress,
    earlier: Paths | None = None,
) -> Release:
    """Beyond the paper: measure more of the right things, and calibrate to them."""
    measurements = measure(
        database,
        MeasurementPlan.usual(parameters, tells_units=database.tells_units),
        # It may lean on what is public, as the post-processing may.
        partial(choose_candidates, earlier=None if earlier is None else Earlier(earlier)),
        randomness,
        progress,
        Planner(parameters, database.tells_units, follows=earlier is not None),
        drawn_queries,
        follows=earlier is not None,
        taxonomy=parameters.taxonomy,
    )
    plan = measurements.plan
    parameters = replace(parameters, planned=plan)
    # From here on only noisy measurements are seen. What is drawn now decides nothing private.
    draw = np.random.default_rng(randomness.words(8))  # noqa: TID251
    made = calibrated.post_process(
        measurements,
        plan,
        parameters,
        draw,
        is_private=randomness.is_private,
        earlier=earlier,
    )
    return Release(database.universe, made.tree, made.paths, errors=made.errors)


# A method says what it is in `core.methods`, where everybody may ask; what it does is called here,
# the only place that may reach the gate and the post-processing both. A test compares the two.
PUBLISHED_BY: Final[dict[Method, Callable[..., Release]]] = {
    BASIC: _publish_tree,
    FULL: _publish_tree,
    CALIBRATED: _publish_tables,
}
