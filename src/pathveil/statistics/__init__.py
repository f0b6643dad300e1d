"""Statistics of trajectories, each with a bound on what one trajectory adds to it.

Pure functions of paths. The gate applies them to people's trajectories and adds noise in
proportion to the bound; the synthesis applies the same functions to its own trajectories and
compares. A statistic is a list of (row, cell) pairs: row adds 1 to the count of cell.

In synthetic trajectories the code |L| stands for an unnamed place: somewhere too rare to be
named. Every visit to it is a visit to a new place. It never occurs in people's data.
"""
