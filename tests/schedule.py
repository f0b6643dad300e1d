"""Which process runs which tests: those of a file one after another, all in the same process.

What a file makes for its tests (releases, a browser, a server) is then made once. xdist's own
groups (``--dist loadgroup``) do nothing under pytest 9.2: xdist writes a test's group into its
name, in a place where pytest no longer looks.
"""

from xdist.scheduler import LoadScopeScheduling

GROUPS = ("browser", "spark")  # several files that share one browser, or one cluster


def group_of(test):
    """The tests that one process runs: by its file, or by what its name says that it needs."""
    return next((group for group in GROUPS if group in test.lower()), test.partition("::")[0])


class ByFile(LoadScopeScheduling):
    """Hands out whole files, those with the most tests first."""

    def _split_scope(self, nodeid):
        return group_of(nodeid)
