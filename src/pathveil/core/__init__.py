"""Public values that cross all areas; nothing here has seen raw data."""
