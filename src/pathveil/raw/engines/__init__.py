"""Exact counts of the non-empty children, level by level; one protocol, one file per engine."""
