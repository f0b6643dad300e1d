"""What each dataset has spent: charged before the data is read, chained by hash, exact.

May see public values only (names, budgets, hashes of certificates): never a row.
"""
