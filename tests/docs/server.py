"""A real PostgreSQL server in place of the pages' db.example.org."""

from tests.docs.files import VISITS
from tests.postgresql import CURATOR, PASSWORD

TABLES = (
    "DROP TABLE IF EXISTS taps, trips, pathveil_ledger, pathveil_totals",
    "CREATE TABLE taps (card_id text, tapped_at timestamp, stop text)",
    "CREATE TABLE trips (card_id text, stops text[])",
    "DROP ROLE IF EXISTS publishers",
    "CREATE ROLE publishers",
    f"GRANT CREATE ON SCHEMA public TO {CURATOR}",
    "INSERT INTO taps VALUES " + ", ".join(f"('{u}', '{t}', '{p}')" for u, _, t, p in VISITS),
)


class Database:
    """The pages' database: their addresses of it, and their SQL, run by its owner."""

    def __init__(self, server):
        self._server = server
        server.run(*TABLES)
        self.addresses = {
            "postgresql://pathveil_reader@db.example.org/transit": server.address,
            "postgresql://db/privacy": server.address,
            "postgresql://privacy@db.example.org/privacy": server.address,
            "PGPASSWORD=…": f"PGPASSWORD={PASSWORD}",
            "PGPASSFILE=~/.pgpass": f"PGPASSWORD={PASSWORD}",
        }

    def run(self, text):
        """Run the statements of a block."""
        self._server.run(*(part for part in text.split(";") if part.strip()))

    def close(self):
        """Take away what the pages made beside their tables."""
        self._server.run(
            *TABLES[:1],
            "DROP ROLE IF EXISTS publishers",
            f"REVOKE CREATE ON SCHEMA public FROM {CURATOR}",
        )
        if self._server.run("SELECT 1 FROM pg_roles WHERE rolname = 'pathveil_reader'"):
            self._server.run("DROP OWNED BY pathveil_reader", "DROP ROLE pathveil_reader")
