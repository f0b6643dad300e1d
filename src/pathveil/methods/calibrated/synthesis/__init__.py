"""From noisy measurements to synthetic trajectories: the post-processing of the calibrated method.

Nothing here sees people's data: what goes in is `core.measurements.Measurements` and public
parameters, so whatever comes out is as private as what went in, and nothing is spent.

Inside this package a location is its position among the candidates (0 … n − 1), and n stands for
an unnamed location: somewhere too rare to be told from the noise. The names come back, and the
unnamed locations go, at the very end.
"""
