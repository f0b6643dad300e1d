"""Public values that cross the privacy zones; nothing here has seen raw data."""
