"""Where raw visits come from: files, databases, tables with a history, and tables in memory.

::

    opening ─→ csv_file (csv_lines) ─────────┐
               parquet_file ┐ arrow_columns ─┼─→ raw_rows ─→ encoding ─→ raw.partitioning
               arrow_table ─┤                │   (cells)     (unit_text,   raw.bounding
               pandas_frame ┤                │                text_codes)
               databases ───┤                │
               lake_tables ─┘                │
    columns: which column plays which role   │
    order_values, text_values: what a cell says

One rule holds in every file here: what happens to a row depends on that row and on public
parameters alone, never on another row. Nothing is inferred from the data: no column types, no
null markers, no date formats.
"""
