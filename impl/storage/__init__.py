"""Adapters: binlogs as Parquet files, metadata in SQLite, a file log; and in-memory ones."""
