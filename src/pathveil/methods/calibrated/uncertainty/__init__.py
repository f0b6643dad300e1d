"""How far an answer may be off: 90% intervals for count queries of calibrated releases.

Post-processing: it sees noisy measurements, public parameters and synthetic trajectories, spends
nothing, and ends in a small table that travels with the release.
"""
