"""Settings for every test."""

from hypothesis import HealthCheck, settings

# The first example of a test may have to compile; how long that takes says nothing.
settings.register_profile("pathveil", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pathveil")
