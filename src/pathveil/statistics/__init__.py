"""Statistics of trajectories, each with a bound on what one trajectory adds to it.

What a statistic is stands in `statistic`, which ones there are in `registry`; every other file but
`denoise`, `first_visits` and `noisy_table` is one of them. Pure functions of paths: nothing here
draws noise, reads a file or knows a budget.
"""
