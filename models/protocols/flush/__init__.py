"""Flush and channel checkpoint: refinement, ports, programs, driver, mutants."""
