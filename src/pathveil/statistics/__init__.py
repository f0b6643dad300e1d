"""Statistics of trajectories, each with a bound on what one trajectory adds to it.

What a statistic is stands in `statistic`, and each has a file of its own; `constants` gives it its
share of ε, and `all_statistics` finds it there. The plan and the noisy tables that come out of the
gate are here too. Nothing here draws noise, reads a file or sees data but through its arguments.
"""
