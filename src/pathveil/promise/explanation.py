"""The certificate in plain words: what a release promises, to whom, and what it does not."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import groupby
from math import ceil, sqrt

from pydantic import BaseModel

from pathveil.core.methods import Method
from pathveil.core.noise import Gaussian
from pathveil.core.told_numbers import decimal, told, with_decimal
from pathveil.promise import plain_words as words
from pathveil.promise.accounting import BudgetLine, NoisyChoice
from pathveil.promise.certificate import PRIVATE, Certificate, Implementation, SeriesRecord
from pathveil.promise.odds import Belief, odds_against_one
from pathveil.promise.over_time import Year, counted_words
from pathveil.promise.stability import Promise, in_terms_of, trip_promises
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.measurement_plan import PARTS
from pathveil.times.protected_units import PERSON, UNITS, Protect
from pathveil.times.trip_rules import is_one_each, kept_by

# Numbers of the explanation: exact fractions as short text, the same on every machine.


def percent(share: Fraction) -> str:
    """A share of 1 as per cent."""
    return f"{decimal(100 * share)}%"


def number(value: Fraction) -> str:
    """Exact, with a decimal beside a fraction that has none as short."""
    if value.denominator == 1:
        return str(value)
    exact = told(value)
    return with_decimal(value) if exact == str(value) else exact


def count(amount: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{amount:,} {one if amount == 1 else many}"


# The certificate in plain words: what a release promises, to whom, and what it does not.
#
# A function of the certificate alone, so of public parameters. The order of the passages follows
# the outline of NIST SP 800-226 (unit, loss, bounds, mechanism, public choices, utility, trust,
# access, what is outside); the words are ours. `pathveil explain` prints it, and report.html holds
# it as a section.


BELIEFS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
WEAK_FROM = Fraction(99)  # per cent: where an undecided attacker may become this sure
SHOWN_ELSEWHERE = {
    *("mechanisms", "pre_processing_eda_hyperparameter_tuning", "method", "universe_size"),
    *("height", "purpose", "threshold", "max_trajectories_per_unit", "max_nodes"),
    *("software", "software_version"),
}


@dataclass(frozen=True, slots=True)
class Table:
    """A small table of text.

    Attributes:
        columns: the headings.
        rows: the cells; the first column is words, the others are numbers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """One part of the explanation.

    Attributes:
        title: what it is about.
        paragraphs: sentences.
        table: figures that belong to them.
        items: a list that follows.
    """

    title: str
    paragraphs: tuple[str, ...]
    table: Table | None = None
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """All of it.

    Attributes:
        status: PRIVATE or NOT PRIVATE.
        epsilon: exact text.
        delta: exact text; "0" unless the universe was discovered or the budget is in ρ.
        beliefs: how far an attacker's belief can move; "was this unit in the data?" (ε) first,
            then "this journey or that one?" (2ε).
        passages: in the order in which they are read.
    """

    status: str
    epsilon: str
    delta: str
    beliefs: tuple[tuple[Belief, Belief], ...]
    passages: tuple[Passage, ...]

    def to_json(self) -> dict[str, object]:
        """For scripts; exact numbers and certified digits as text."""
        return {
            "status": self.status,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "odds": [
                {
                    "belief_before": str(presence.before),
                    "was_this_unit_in_the_data": _bounds(presence),
                    "this_journey_or_that_one": _bounds(journey),
                }
                for presence, journey in self.beliefs
            ],
            "passages": [asdict(passage) for passage in self.passages],
        }


def explain(certificate: Certificate) -> Explanation:
    """Explain a certificate, or the one that planned parameters would get."""
    epsilon, promise = (
        Fraction(certificate.privacy_loss.privacy_parameters.epsilon),
        certificate.promise(),
    )
    exchanged = promise.map(2)
    beliefs = tuple(
        (Belief.after(before, epsilon), Belief.after(before, exchanged)) for before in BELIEFS
    )
    return Explanation(
        status=certificate.status,
        epsilon=str(epsilon),
        delta=certificate.privacy_loss.privacy_parameters.delta,
        beliefs=beliefs,
        passages=(
            _promise(certificate, epsilon),
            _unit(certificate),
            _loss(promise, beliefs),
            _bounds_passage(certificate, promise),
            _mechanism(certificate),
            _choices(certificate),
            _utility(certificate),
            Passage("Whom one must trust", words.TRUST),
            _access(certificate, promise),
            _outside(certificate),
            Passage(
                "The words used here",
                (),
                items=tuple(_words(certificate)),
            ),
        ),
    )


def _promise(certificate: Certificate, epsilon: Fraction) -> Passage:
    delta = Fraction(certificate.privacy_loss.privacy_parameters.delta)
    stamp = () if certificate.status == PRIVATE else (words.NOT_PRIVATE,)
    such_as = UNITS[certificate.protect].such_as
    return Passage(
        "The promise in short",
        (
            *stamp,
            (
                f"{words.PROMISE.format(such_as=such_as)} Here ε is {number(epsilon)}, so nothing "
                "that anybody could see in the release is more than "
                f"e^ε = {odds_against_one(epsilon):,f} times as probable with one unit's data as "
                "without it, or without as with"
                f"{words.PLUS_DELTA if certificate.rho else '.'}"
            ),
            words.HOLDS_AGAINST,
            _exception(certificate, delta),
        ),
    )


def _words(certificate: Certificate) -> Iterator[str]:
    """What the technical words mean."""
    such_as = UNITS[certificate.protect].such_as
    yield from (word.format(such_as=such_as) for word in words.WORDS)
    if certificate.rho:
        yield words.RHO_IN_WORDS


def _exception(certificate: Certificate, delta: Fraction) -> str:
    if not delta:
        return words.NO_DELTA
    if not certificate.gaussian_delta:
        return words.DELTA.format(delta=number(delta))
    if not certificate.rho:
        return words.UNUSED_DELTA.format(delta=number(delta))
    pure = certificate.promise().pure(1)
    beside = words.BESIDE_RHO.format(pure=number(pure)) if pure else ""
    given = {"delta": number(delta), "rho": number(certificate.rho)}
    return words.GAUSSIAN_DELTA.format(**given, beside=beside)


def _unit(certificate: Certificate) -> Passage:
    most = certificate.implementation.max_trajectories_per_unit
    return Passage(
        "Who is protected: the unit",
        (
            (
                f"What is protected is {certificate.privacy_loss.privacy_unit}. The promise "
                "compares two worlds: the data with everything of one unit in it, and the same "
                "data with everything of that unit taken out."
            ),
            (
                f"At most {count(most, 'trajectory', 'trajectories')} of a unit "
                f"{'is' if most == 1 else 'are'} used. {words.OVER_THE_BOUND}"
            ),
            *((" ".join(_one_trip(certificate)),) if most > 1 else ()),
            f"{words.YEAR[certificate.protect]} {_year(certificate)}",
            words.SEVERAL_CARDS_IN_RHO if certificate.rho else words.SEVERAL_CARDS,
        ),
    )


def _year(certificate: Certificate) -> str:
    """What a person who is there for a year has in total."""
    promise = certificate.promise()
    return Year.of(promise, certificate.protect).sentence(promise)


def _one_trip(certificate: Certificate) -> Iterator[str]:
    """What is proved for one trajectory, and nothing more."""
    unit, keep = certificate.promise(), kept_by(certificate.implementation.trajectory_rules)
    within, *over = trip_promises(unit, keep)
    yield words.ONE_TRIP.format(most=unit.distance, each=in_terms_of(unit, within.epsilon))
    if not over or keep is None:
        yield words.ONE_OF_UNKNOWN
    else:
        yield words.ONE_OF_MORE[keep].format(each=in_terms_of(unit, over[0].epsilon))


def _loss(promise: Promise, beliefs: tuple[tuple[Belief, Belief], ...]) -> Passage:
    epsilon, exchanged = promise.epsilon, promise.map(2)
    twice = f"ε = {decimal(exchanged)}" if promise.rho(1) else f"2ε = {exchanged}"
    two = words.TWO_QUESTIONS_IN_RHO if promise.rho(1) else words.TWO_QUESTIONS
    weak = beliefs[BELIEFS.index(Fraction(1, 2))][0].at_most >= WEAK_FROM
    rows = tuple(
        (
            percent(presence.before),
            _range(presence),
            _range(journey),
        )
        for presence, journey in beliefs
    )
    return Passage(
        "How much can be learnt: the privacy loss",
        (words.ATTACKER, two, *((words.WEAK,) if weak else ())),
        Table(
            (
                "the attacker's belief before",
                f"after, on “was this unit in the data?” (ε = {epsilon})",
                f"after, on “this journey or that one?” ({twice})",
            ),
            rows,
        ),
    )


def _bounds_passage(certificate: Certificate, promise: Promise) -> Passage:
    choices = certificate.implementation
    has_tables = Method.named(choices.method).has_tables
    cut = words.CUT_CALIBRATED if has_tables else words.CUT_TREE
    measured = cut if has_tables else cut.format(height=choices.height)
    return Passage(
        "What bounds it, and what multiplies it",
        (measured, words.MULTIPLIES_IN_RHO if promise.rho(1) else words.MULTIPLIES),
        Table(
            ("situation", "ε in effect", "a belief of 50% becomes at most"),
            tuple(
                (
                    what,
                    decimal(loss) if promise.rho(1) else number(loss),
                    f"{Belief.after(Fraction(1, 2), loss).at_most:f}%",
                )
                for what, loss in _situations(promise, certificate.protect)
            ),
        ),
    )


def _situations(promise: Promise, protect: Protect) -> Iterator[tuple[str, Fraction]]:
    """What multiplies ε, and the ε that comes of it."""
    for what, units in words.SITUATIONS if protect == PERSON else words.SMALL_SITUATIONS:
        yield what, promise.map(units)
    if protect != PERSON:
        unit, year = UNITS[protect], Year.of(promise, protect)
        yield f"a person who {unit.there}, all in this release", year.together
        yield f"the same, {unit.one} in each of {year.units} releases like this one", year.apart
    yield words.REPEATED, promise.repeated(words.RELEASES)


def _mechanism(certificate: Certificate) -> Passage:
    return Passage(
        f"How it is done: noise, and who gets which share of {_symbol(certificate)}",
        (
            *_noises(certificate),
            *_planned(certificate),
        ),
        Table(
            (
                "counted",
                f"share of {_symbol(certificate)}",
                "one unit changes at most",
                "typical noise on one count",
            ),
            tuple(_shares(certificate)),
        ),
    )


def _noises(certificate: Certificate) -> Iterator[str]:
    """What noise there is, and of what it gets shares."""
    if not certificate.rho:
        yield from (words.NOISE, words.SHARES)
    elif certificate.is_in_rho:
        yield from (words.GAUSSIAN_NOISE, words.SHARES_OF_RHO)
    else:
        yield from (words.TWO_NOISES, words.SHARES_OF_BOTH)
    if any(line.clip for line in certificate.accounting.budget):
        yield words.CLIPPED


def _symbol(certificate: Certificate) -> str:
    """Of the budget that is shared out."""
    if not certificate.rho:
        return "ε"
    return "ρ" if certificate.is_in_rho else "ε and ρ"


def _planned(certificate: Certificate) -> Iterator[str]:
    """Why tables have the caps and shares that they have."""
    plan = certificate.accounting.plan
    if plan is not None:
        figures = "; ".join(f"{reason.figure}: {reason.value}" for reason in plan.reasons)
        purpose = certificate.implementation.purpose
        yield words.PLANNED.format(purpose=purpose, figures=figures, budget=_symbol(certificate))


def _shares(certificate: Certificate) -> Iterator[tuple[str, ...]]:
    """One row per measurement; levels of a tree with the same figures share one."""
    epsilon = Fraction(certificate.privacy_loss.privacy_parameters.epsilon)
    is_mixed = certificate.rho and not certificate.is_in_rho
    for (share, sensitivity, noise, symbol, _), group in groupby(
        certificate.accounting.budget, _figures
    ):
        total = epsilon if symbol == "ε" else certificate.rho
        names = [line.measurement.removeprefix("noisy counts: ") for line in group]
        each = " each" if len(names) > 1 else ""
        yield (
            _with_words(names[0]) if not each else f"{names[0]} … {names[-1]}",
            f"{decimal(100 * share / total)}%{f' of {symbol}' if is_mixed else ''}{each}",
            f"{sensitivity:,}",
            f"± {noise:,}",
        )


def _with_words(name: str) -> str:
    """The name of a table, and what it counts."""
    counted = {statistic.name: statistic.words for statistic in (*STATISTICS, *TIME_STATISTICS)}
    return f"{name}: {counted[name]}" if name in counted else name


def _figures(line: BudgetLine) -> tuple[Fraction, int, int, str, str]:
    """The share, the change by one unit, the noise (b of Laplace, σ of Gaussian), and of what.

    Levels of a tree are the same but for their number; other tables have a row each.
    """
    share, noise = Fraction(line.rho or line.epsilon or 0), line.noise
    what = re.sub(r"\d+", "", line.measurement)
    if line.clip is not None:
        return share, ceil(sqrt(line.clip)), ceil(noise.deviation / PARTS), "ρ", what
    if isinstance(noise, Gaussian):
        return share, line.sensitivity, ceil(noise.deviation), "ρ", what
    return share, line.sensitivity, ceil(line.sensitivity / share), "ε", what


def _choices(certificate: Certificate) -> Passage:
    choices, chosen = certificate.implementation, certificate.accounting.choices
    threshold = f"{choices.threshold:,}"
    if Method.named(choices.method).has_tables:
        threshold = "one for each table"
    choices_shown = {
        **_budget(certificate),
        "locations in the universe": f"{choices.universe_size:,}",
        **_shape(choices),
        "threshold": threshold,
        "method": choices.method,
        "trajectories used per unit, at most": f"{choices.max_trajectories_per_unit:,}",
        "largest tree that was allowed, in nodes": f"{choices.max_nodes:,}",
        "software": f"{choices.software} {choices.software_version}",
    }
    return Passage(
        "The public choices",
        (words.CHOICES, words.FROM_DATA if chosen else words.NONE_FROM_DATA),
        Table(("choice", "value"), tuple((choices_shown | _other_choices(certificate)).items())),
        tuple(
            f"{line.rule} ({_share(line)}{'' if line.delta == '0' else f', δ {line.delta}'})"
            for line in chosen
        ),
    )


def _share(choice: NoisyChoice) -> str:
    return f"ε {choice.epsilon}" if choice.rho is None else f"ρ {choice.rho}"


def _budget(certificate: Certificate) -> dict[str, str]:
    """ε; and ρ with the δ at which it was told, if the budget is in ρ."""
    given = certificate.privacy_loss.privacy_parameters
    beside = {"δ": given.delta} if certificate.gaussian_delta else {}
    if given.rho:
        beside["ρ, of all counts with Gaussian noise"] = given.rho
    return {"ε, the privacy budget": given.epsilon, **beside}


def _shape(choices: Implementation) -> dict[str, str]:
    """How much of a trajectory may count."""
    if Method.named(choices.method).has_tables:
        return {"purpose": choices.purpose, "largest cap": f"{choices.height:,}"}
    return {"height": f"{choices.height:,}"}


def _other_choices(certificate: Certificate) -> dict[str, str]:
    """Whatever else the certificate lists among the choices: none may go untold."""
    choices = certificate.implementation
    return {
        name.replace("_", " "): _plain(value)
        for name, value in choices
        if name not in SHOWN_ELSEWHERE and value not in (None, [])
    }


def _plain(value: object) -> str:
    """A part of the certificate on one line."""
    if isinstance(value, BaseModel):
        told = ((name, part) for name, part in value if part is not None)
        return ", ".join(f"{name.replace('_', ' ')} {part}" for name, part in told)
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _utility(certificate: Certificate) -> Passage:
    method = certificate.implementation.method
    made = words.MADE_CALIBRATED if Method.named(method).has_tables else words.MADE_TREE
    most = certificate.implementation.max_trajectories_per_unit
    one_each = is_one_each(certificate.implementation.trajectory_rules)
    counted = counted_words(most, certificate.protect, certificate.expansion, one_each=one_each)
    rules = _rules(certificate)
    return Passage("What it costs: accuracy", (made, counted, *rules, words.ACCURACY))


def _rules(certificate: Certificate) -> Iterator[str]:
    """What the publisher fixed beforehand, and left out by it."""
    rules = certificate.acceptance
    if rules is None:
        return
    if rules.suppress_below:
        yield (
            f"The publisher fixed beforehand that counts below {rules.suppress_below:,} are left "
            "out of tables and exports: no figure below it is stood by. It is not what protects."
        )
    yield "Rules that this release had to keep to go out stand on its certificate."


def _access(certificate: Certificate, promise: Promise) -> Passage:
    ledger, year = certificate.ledger, promise.repeated(words.RELEASES)
    monthly = Belief.after(Fraction(1, 2), year).at_most
    shown = f"{decimal(year)} at the same δ" if promise.rho(1) else number(year)
    return Passage(
        "Who may use it, and other releases",
        (
            words.ACCESS,
            (
                f"{words.COMPOSITION} Twelve releases like this one, say one a month, about the "
                f"same people together have ε = {shown}: a belief of 50% may "
                f"become {monthly:f}%."
            ),
            words.LEDGER.format(dataset=ledger.dataset) if ledger else words.NO_LEDGER,
            *([_series(ledger.series)] if ledger and ledger.series else []),
        ),
    )


def _series(series: SeriesRecord) -> str:
    delta = f", δ = {series.delta}" if series.rho else ""
    return words.SERIES.format(
        release=series.release,
        period=series.period,
        series=series.series,
        together=f"ε = {decimal(Fraction(series.epsilon))}{delta}",
    )


def _outside(certificate: Certificate) -> Passage:
    listed = (
        f"{line[0].upper()}{line[1:]}." for line in certificate.dp_flavor.unprotected_quantities
    )
    is_discovered = certificate.promise().is_discovered
    also = (item for item in words.ALSO_OUTSIDE if not (is_discovered and item == words.GIVEN_LIST))
    return Passage("What is outside the guarantee", (words.OUTSIDE,), items=(*listed, *also))


def _bounds(belief: Belief) -> dict[str, str]:
    return {
        "loss": str(belief.loss),
        "at_least_percent": f"{belief.at_least:f}",
        "at_most_percent": f"{belief.at_most:f}",
    }


def _range(belief: Belief) -> str:
    return f"{belief.at_least:f}% to {belief.at_most:f}%"
