"""The public universe of locations: lists, GTFS feeds, grids and H3 cells, and their zones."""
