"""A working folder, and a real PostgreSQL server for the pages that speak of one."""

from tests.end_to_end.conftest import folder
from tests.postgresql import server, visits_server

__all__ = ["folder", "server", "visits_server"]
