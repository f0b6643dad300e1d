"""The stores of tests.ledgers as fixtures."""

from tests.ledgers import place, postgresql, server

__all__ = ["place", "postgresql", "server"]
