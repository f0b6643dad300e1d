"""A server for the combinations that need one."""

from tests.postgresql import server, visits_server

__all__ = ["server", "visits_server"]
