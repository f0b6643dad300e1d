"""Questions about published paths: counts, patterns and flows.

Everything here takes any `WeightedPaths` (a release, or a trajectory database inside the
evaluation) and never imports raw data, the mechanism or the evaluation. On a release it is
post-processing: it costs no budget. Numba is imported when a question first needs it, so that
importing this package stays cheap.
"""
