"""The event table: its columns, and the two ways in which it is made (one process, Spark)."""
