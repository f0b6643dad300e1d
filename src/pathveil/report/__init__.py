"""The page that people look at. Everything on it derives from the release alone."""
