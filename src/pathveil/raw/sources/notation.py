"""How cells are written where that is not the usual way: public choices, for every row alike."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.sources.time_formats import TimeFormat

_POINT, _COMMA = ord("."), ord(",")
_EXCHANGED = np.arange(256, dtype=np.uint8)
_EXCHANGED[[_POINT, _COMMA]] = _COMMA, _POINT


@dataclass(frozen=True, slots=True)
class Writing:
    """How times and numbers are written.

    Attributes:
        time_format: of the order; None for ISO 8601 and numbers.
        decimal_comma: whether a comma stands before the decimals, and not a point.
    """

    time_format: TimeFormat | None = None
    decimal_comma: bool = False

    def with_points(self, texts: Texts) -> Texts:
        """The same texts with a point before the decimals; what had one already has a comma."""
        if not self.decimal_comma:
            return texts
        from pathveil.raw.sources.text_codes import copied

        own = copied(texts, np.arange(len(texts), dtype=np.int64))
        return Texts(own.starts, own.stops, _EXCHANGED[own.data])


PLAIN: Final = Writing()
