"""Releases made by other programs, scored beside ours: the tables of docs/comparison.md.

    python -m bench.peers                     # four subsets, five runs of our own
    python -m bench.peers cab5k --runs 5
    python -m bench.peers --raw RAW --universe UNIVERSE --releases FILE …

A release is one trajectory per line, labels separated by spaces; gzip or not. Without ``--raw`` the
releases are those of the authors' own programs in ``../shared/peers``, made once, outside the
project (its README says how): nothing here is tuned to them. The columns are those of
`bench.scoreboard`; "n-grams" is the share of the true 1,536 most frequent contiguous n-grams,
n ≤ 6, that a release has among its own. INTERNAL: it compares raw data with releases.
"""

import argparse
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.accuracy import METHODS, line
from bench.scoreboard import HEADER, Scoreboard, cells
from pathveil import TrajectoryDatabase, Universe
from pathveil.analysis.patterns import top_patterns
from pathveil.core.paths import WeightedPaths

PEERS = Path(__file__).resolve().parents[2] / "shared/peers"
SUBSETS = ("cab5k", "cab20k", "mibici20k", "msnbc100k")
EPSILON, OURS = "1", ("empty", "calibrated")
TOP_NGRAMS, LONGEST_NGRAM = 1_536, 6  # as many, and as long, as DPNE extracts from msnbc100k
NGRAMS_ON = ("msnbc100k",)  # the one subset with a release of n-grams
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Program:
    """Who made a release, and what to know before believing it.

    Attributes:
        name: for the table.
        version: of the program, and how it was run.
        caveat: what of it is not ε = 1 over a public universe.
    """

    name: str
    version: str
    caveat: str


_PM4PY = "pm4py 2.7.23.11, trace variant query"
PROGRAMS = {
    "adatrace": Program(
        "AdaTrace",
        "git-disl/AdaTrace 55fc77b, attack defences off, 6 × 6 grid",
        "second-level densities have no noise; reads the raw bounding box, lengths and |D|",
    ),
    "privtrace": Program(
        "PrivTrace",
        "DpTrace/PrivTrace b06cef7 with ECOS",
        "reads the raw bounding box, number of points and |D|, and in its calibration which "
        "transitions occur",
    ),
    "ngramAcs": Program(
        "n-grams, l_max 20",
        "Chen, Acs, Castelluccia, in a third party's copy (luguoqing/Diff-FSPM 7288755), n_max 5",
        "sizes come out 2 to 14 times too large",
    ),
    "ngramAcsL12": Program("n-grams, l_max 12", "the same", "the same"),
    "pm4pyLaplace": Program(
        "pm4py Laplace, ε = 1 per level", _PM4PY, "its true cost is ε = 12, not 1"
    ),
    "pm4pyLaplaceHonest": Program(
        "pm4py Laplace, ε = 1/12 per level", _PM4PY, "none known"
    ),
    "pm4pySacofa": Program(
        "pm4py SaCoFa, ε = 1 per level",
        _PM4PY,
        "its true cost is ε = 12, not 1; reads which relations occur in the raw data",
    ),
    "pm4pySacofaHonest": Program(
        "pm4py SaCoFa, ε = 1/12 per level",
        _PM4PY,
        "reads which relations occur in the raw data",
    ),
    "dpne": Program(
        "DPNE",
        "microsoft/differentially-private-ngram-extraction e40f115, n ≤ 6",
        "(ε, δ) with δ = 1e-6; a set of n-grams without counts, no trajectories",
    ),
}  # fmt: skip


def read_release(path: Path, universe: Universe) -> TrajectoryDatabase:
    """One trajectory per line, labels separated by spaces; gzip or not.

    Raises:
        SystemExit: if the file can't be read, or names a location that the universe lacks.
    """
    rows = read_lines(path)
    unknown = {label for row in rows for label in row if label not in universe}
    if unknown:
        raise SystemExit(
            f"{path.name}: {len(unknown)} labels are not in the universe, such as "
            f"{min(unknown)[:40]!r}."
        )
    return TrajectoryDatabase.from_sequences(rows, universe)


def read_lines(path: Path) -> list[list[str]]:
    """The labels of each line."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(GZIP) else content).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SystemExit(f"Can't read the release {path}: {error}.") from None
    return [row.split() for row in text.splitlines()]


class Ngrams:
    """The contiguous n-grams that most raw trajectories have."""

    def __init__(self, raw: WeightedPaths, most: int = TOP_NGRAMS) -> None:
        self._most = most
        self._true = self._top(raw)

    def _top(self, paths: WeightedPaths) -> set[tuple[str, ...]]:
        found = top_patterns(paths, self._most, contiguous=True, max_length=LONGEST_NGRAM)
        return {pattern.locations for pattern in found}

    def found_by(self, release: WeightedPaths) -> float:
        """Which share of them are among the most frequent ones of a release."""
        return self.listed_in(self._top(release))

    def listed_in(self, ngrams: set[tuple[str, ...]]) -> float:
        """Which share of them a set holds."""
        return len(self._true & ngrams) / len(self._true)


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Raw data with the releases that peers made of it.

    Attributes:
        name: for the table.
        board: scores a release.
        ngrams: what releases of n-grams are compared with; None if there are none.
        universe: the public universe.
    """

    name: str
    board: Scoreboard
    ngrams: Ngrams | None
    universe: Universe

    @classmethod
    def read(cls, name: str, raw: Path, universe: Path) -> "Subset":
        """Read the raw side."""
        locations = Universe.read(universe)
        database = read_release(raw, locations)
        ngrams = Ngrams(database) if name in NGRAMS_ON else None
        return cls(name, Scoreboard(database), ngrams, locations)

    def row(self, who: str, releases: list[WeightedPaths]) -> list[str]:
        """A line of the table: means over releases of one program."""
        score = np.mean([self.board.score(release) for release in releases], axis=0)
        found = [self.ngrams.found_by(release) for release in releases] if self.ngrams else []
        return [self.name, who, f"{len(releases)}", *cells(score), _share(found)]

    def row_of_ngrams(self, who: str, files: list[Path]) -> list[str]:
        """A line for sets of n-grams, which answer nothing else."""
        sets = [{tuple(row) for row in read_lines(file)} for file in files]
        found = [self.ngrams.listed_in(ngrams) for ngrams in sets] if self.ngrams else []
        return [self.name, who, f"{len(files)}", *("–" for _ in HEADER), _share(found)]

    def peers(self, folder: Path) -> Iterator[list[str]]:
        """A line for each program that made releases of this data."""
        for key, program in PROGRAMS.items():
            if files := sorted(folder.glob(f"{self.name}-{key}-eps1-run*.ngrams.txt.gz")):
                yield self.row_of_ngrams(program.name, files)
            elif files := sorted(folder.glob(f"{self.name}-{key}-eps1-run*.txt.gz")):
                yield self.row(program.name, [read_release(f, self.universe) for f in files])

    def ours(self, methods: list[str], runs: int) -> Iterator[list[str]]:
        """A line for each of our methods, with fresh noise in every run."""
        for method in methods:
            fresh = 1 if method == "empty" else runs
            made = [METHODS[method](self.board.database, EPSILON) for _ in range(fresh)]
            yield self.row(f"pathveil `{method}`" if method != "empty" else "nothing at all", made)


def _share(found: list[float]) -> str:
    return f"{np.mean(found):.2f}" if found else "–"


def print_header() -> None:
    header = ["data", "program", "runs", *HEADER, "n-grams"]
    line(header)
    line(["---"] * len(header))


def print_programs() -> None:
    print()
    line(["program", "version", "before believing it"])
    line(["---"] * 3)
    for program in PROGRAMS.values():
        line([program.name, program.version, program.caveat.replace("|", "\\|")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subsets", nargs="*", default=list(SUBSETS))
    parser.add_argument("--methods", nargs="*", default=list(OURS), choices=list(METHODS))
    parser.add_argument("--runs", type=int, default=5, help="of our own methods")
    parser.add_argument("--raw", type=Path, help="other raw data, one trajectory per line")
    parser.add_argument("--universe", type=Path, help="its public universe, a CSV file")
    parser.add_argument("--releases", type=Path, nargs="+", default=[], help="releases of it")
    options = parser.parse_args()
    if options.raw is not None:
        if options.universe is None:
            parser.error("--raw needs its --universe.")
        subset = Subset.read(options.raw.name, options.raw, options.universe)
        print_header()
        for file in options.releases:
            line(subset.row(file.name, [read_release(file, subset.universe)]))
        for row in subset.ours(options.methods, options.runs):
            line(row)
        return
    if not PEERS.is_dir():
        raise SystemExit("The releases of other programs (shared/peers) are not on this machine.")
    print_header()
    for name in options.subsets:
        files = (PEERS / f"{name}-raw.txt.gz", PEERS / f"{name}-universe.csv")
        if not all(file.exists() for file in files):
            raise SystemExit(f"There is no subset {name}; there are {', '.join(SUBSETS)}.")
        subset = Subset.read(name, *files)
        for row in (*subset.peers(PEERS), *subset.ours(options.methods, options.runs)):
            line(row)
    print_programs()


if __name__ == "__main__":
    main()
