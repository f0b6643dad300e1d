"""Altair charts of a release, for notebooks."""
