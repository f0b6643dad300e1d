"""A local web page over a release: it sees bundles only."""
