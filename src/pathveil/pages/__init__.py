"""The pages and charts that people look at. Everything on them derives from the release alone."""
