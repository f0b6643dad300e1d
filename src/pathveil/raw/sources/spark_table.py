"""A Spark DataFrame as a source: its schema is looked at, its rows stay on the cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pathveil.errors import InputError, ParameterError
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_values import refused_float
from pathveil.universe.universe import Universe

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double", "array<float>", "array<double>")


def is_spark_frame(source: Any) -> bool:
    """Whether an object is a DataFrame of Spark's, classic or over Connect; imports nothing."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


class SparkTable:
    """A DataFrame.

    Args:
        frame: a DataFrame of Spark 4.
    """

    label = "the Spark table"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        kinds = dict(frame.dtypes)
        self._kinds: dict[str, str] = kinds
        self.names: list[str] = list(frame.columns)

    def is_list(self, column: str) -> bool:
        """Whether the column's type is an array."""
        return self._kinds[column].startswith("array<")

    def is_integer(self, column: str) -> bool:
        """Whether the column's type is a whole number."""
        return self._kinds[column] in _INTEGERS

    def check(self, columns: Columns) -> None:
        """Refuse columns by their types, before a worker meets them.

        Raises:
            ParameterError: if the order of the rows would decide: a DataFrame has none.
            InputError: if units, trajectories or locations are floats.
        """
        is_list = columns.location is not None and self.is_list(columns.location)
        if not is_list and columns.order is None:
            raise ParameterError(
                "Rows of a Spark table have no order; name the column that orders the visits with "
                "order=… or --order-column."
            )
        for role in ("unit", "trajectory", "location"):
            name = getattr(columns, role)
            if name is not None and self._kinds[name] in _FLOATS:
                raise refused_float(role, name)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A table's schema is not a row of data."""
        return True

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:  # noqa: ARG002
        """Its rows do not come here.

        Raises:
            InputError: always.
        """
        raise InputError("A Spark table is counted by the engine 'spark' only.")
