"""Tests of one file run in one process, however many processes there are."""

from tests.schedule import group_of

ran = []


def test_files_are_groups_and_so_are_those_that_share_a_browser_or_a_cluster():
    assert group_of("tests/unit/test_a.py::T::test[x.py::y]") == "tests/unit/test_a.py"
    assert group_of("tests/browser/test_report.py::test_a") == "browser"
    assert group_of("tests/engines/test_counting.py::test_a[spark]") == "spark"
    ran.append(1)


def test_the_test_before_ran_here():
    """Unless it was not asked for."""
    ran.append(2)


def test_the_tests_before_ran_in_this_process(request):
    asked = [item.name for item in request.session.items if item.path == request.path]
    assert len(ran) == len(asked) - 1
