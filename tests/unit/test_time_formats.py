"""Times by a format: what Python's strptime reads, cell by cell, and nothing else."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.errors import ParameterError
from pathveil.raw.sources.text_columns import UNREADABLE
from pathveil.raw.sources.text_values import text_buffers
from pathveil.raw.sources.time_formats import TimeFormat

FORMATS = (
    "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %I:%M %p", "%d/%m/%y %H:%M", "%Y%m%d", "%d-%b-%y %H.%M.%S.%f",
    "%Y-%d-%mT%H:%M:%S%z", "am %d.%m.%Y um %H:%M Uhr", "100%% %d %m %Y",
)  # fmt: skip


def read(form, *texts):
    """The instants of some texts, None for what can't be read."""
    keys = TimeFormat.parse(form).order_keys(text_buffers(pa.array(texts, pa.string())))
    return [
        None if rest == UNREADABLE else datetime.fromtimestamp(int(integer), UTC).isoformat()[:19]
        for integer, rest in zip(keys.integer, keys.rest, strict=True)
    ]


@pytest.mark.parametrize(
    ("form", "text", "instant"),
    [
        ("de", "02.03.2026 07:58", "2026-03-02T07:58:00"),
        ("de", "2.3.2026 7:58:10", "2026-03-02T07:58:10"),
        ("de", " 02.03.26, 07:58\t", "2026-03-02T07:58:00"),
        ("de", "02.03.1998", "1998-03-02T00:00:00"),
        ("us", "3/2/2026 7:58:10 AM", "2026-03-02T07:58:10"),
        ("us", "03/02/2026 12:00 pm", "2026-03-02T12:00:00"),
        ("us", "3/2/26, 12:05 AM", "2026-03-02T00:05:00"),
        ("us", "3/2/2026 19:58", "2026-03-02T19:58:00"),
        ("uk", "02/03/2026 07:58", "2026-03-02T07:58:00"),
        ("%d-%b-%y", "02-MAR-26", "2026-03-02T00:00:00"),
        ("%Y-%m-%d %H:%M%z", "2026-03-02 07:58+02:00", "2026-03-02T05:58:00"),
    ],
)
def test_usual_times_are_read(form, text, instant):
    assert read(form, text) == [instant]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("de", "31.02.2026"), ("de", "2026-03-02"), ("de", "02.03.2026 24:00"), ("de", ""),
        ("de", "02.03.2026 07:58 Uhr"), ("de", "1772409600"), ("us", "13/02/2026"),
        ("us", "3/2/2026 13:00 PM"), ("us", "3/2/2026 0:30 AM"), ("uk", "02/13/2026"),
        ("de", "02.03.20266"), ("%d-%b-%y", "02-MÄR-26"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_unreadable(form, text):
    assert read(form, text) == [None]


@given(
    st.sampled_from(FORMATS),
    st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_what_python_writes_is_read_as_python_reads_it(form, moment):
    text = moment.strftime(form)
    expected = datetime.strptime(text, form)  # noqa: DTZ007
    expected = expected if expected.tzinfo is None else expected.astimezone(UTC)
    assert read(form, text) == [expected.isoformat()[:19]]


@given(st.sampled_from(FORMATS), st.text("0123456789./-: APMapmTZ+", max_size=24))
def test_what_python_refuses_is_unreadable(form, text):
    try:
        datetime.strptime(text.strip(" "), form)  # noqa: DTZ007
    except ValueError:
        assert read(form, text) == [None]


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("german", "is iso, de, us, uk"), ("%H:%M", "a day, a month and a year"),
        ("%d.%m.%Y %I:%M", "go together"), ("%d.%m.%Y %Q", "has a %Q"), ("%d %d %m %Y", "twice"),
        (7, "is iso"), ("%d.%m.%Y %", "which is not among"), ("%d%m%Y\0", "NUL"),
    ],
)  # fmt: skip
def test_a_format_that_can_not_be_used_is_refused(form, says):
    with pytest.raises(ParameterError, match=says):
        TimeFormat.parse(form)


@pytest.mark.parametrize(
    ("times", "hint"), [("time", r" Did you mean 'time'\?$"), ("x", r"order-column\.$")]
)
def test_a_format_without_a_column_of_times_is_refused_and_not_ignored(times, hint):
    visits = pa.table({"card": ["1", "2"], times: ["3/2/2026", "3/3/2026"], "stop": ["A", "B"]})
    universe = pv.Universe(["A", "B"])
    with pytest.raises(ParameterError, match=f"none was named or recognised.*{hint}"):
        pv.read_trajectories(visits, universe, unit="card", time_format="us")
    pv.read_trajectories(visits, universe, unit="card", time_format="us", order=times)
