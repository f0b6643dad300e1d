"""Which process runs which tests: those of a file one after another, all in the same process.

What a file makes for its tests (releases, a browser, a server) is then made once. xdist's own
groups (``--dist loadgroup``) do nothing under pytest 9.2: xdist writes a test's group into its
name, in a place where pytest no longer looks.
"""

from xdist.scheduler import LoadScopeScheduling


def group_of(test):
    """The tests that one process runs: by its file, or by the browser or the cluster they share."""
    file = test.partition("::")[0]
    if file.startswith("tests/browser/"):
        return "browser"
    return "spark" if "spark" in test else file


class ByFile(LoadScopeScheduling):
    """Hands out whole files, those with the most tests first."""

    def _split_scope(self, nodeid):
        return group_of(nodeid)
