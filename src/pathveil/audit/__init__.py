"""The empirical privacy audit: does the gate keep the ε that it claims?

The audit attacks the mechanism from outside, through its front door, on databases that it makes
up itself; it never sees anybody's data. An alarm is a proof (up to a stated, tiny probability)
that the claim is false. No alarm is not a proof that it is true: the proof is on paper, beside
`pathveil.gate`, and the audit is there to catch code that strays from it.
"""

from pathveil.audit.attacking import AuditReport, Finding, audit
from pathveil.audit.events import Mechanism, Observation, front_door
from pathveil.audit.neighbours import (
    NeighbouringPair,
    a_unit_with_three,
    neighbouring_pairs,
    timed_pairs,
    zoned_pairs,
)
from pathveil.audit.raw_neighbours import from_rows, raw_pairs

__all__ = [
    "AuditReport",
    "Finding",
    "Mechanism",
    "NeighbouringPair",
    "Observation",
    "a_unit_with_three",
    "audit",
    "from_rows",
    "front_door",
    "neighbouring_pairs",
    "raw_pairs",
    "timed_pairs",
    "zoned_pairs",
]
