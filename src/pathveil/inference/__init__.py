"""Post-processing of the noisy tree: constrained inference (section IV-B). Sees no raw data."""
