"""What a release will be worth, before there is one: the real mechanism on simulated trajectories.

Nothing private is read and nothing is spent. This package runs the mechanism, so it stands above
it; the only data that it may see is simulated.
"""
