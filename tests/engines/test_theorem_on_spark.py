"""The theorem on Spark: a unit's trajectories depend on its own rows only, whatever the order.

All in the group of the one cluster, with every type of column that a table of Spark's can have.
"""

import pytest
from tests.theorem import people
from tests.theorem.covering import covering, one_of_each
from tests.theorem.product import Setting, all_cases, check, expect_refusal
from tests.theorem.sources import Place

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j's sockets
]


def enforce(case, place):
    setting = Setting.of(case, place)
    before = setting.trajectories(setting.rows)
    assert people.PEOPLE <= before.total() <= case.cap * people.PEOPLE
    columns, land = case.source.columns, setting.land
    hostile = people.flood(columns, land.labels, points=land.points)
    check(setting, before, hostile, "everywhere")


def test_every_type_of_column_and_every_pair_of_choices(cluster, tmp_path, record_property):
    place = Place(tmp_path, session=cluster.session)
    cases = covering(["spark"])
    for case in cases:
        enforce(case, place)
    record_property("combinations", {"read": len(cases), "neighbours": len(cases)})


def test_what_is_refused_is_refused_for_a_stated_reason(cluster, tmp_path, record_property):
    place = Place(tmp_path, session=cluster.session)
    cases = [case for case in all_cases(["spark"]) if case.refusal and not case.is_void]
    refused = list(one_of_each(cases))[::7]
    for case in refused:
        expect_refusal(Setting.of(case, place))
    record_property("combinations", {"refused": len(refused)})
