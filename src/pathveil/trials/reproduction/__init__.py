"""Section V of the paper, again, on any dataset: its figures, its tables, and how ours differ.

INTERNAL: everything here is computed from raw data.
"""
