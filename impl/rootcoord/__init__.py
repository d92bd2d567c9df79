"""The root coordinator's half of the time tick: sessions, reports, rounds, ticks, and the DDL minimum."""
