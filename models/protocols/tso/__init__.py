"""The oracle: refinement, ports, programs, driver, mutants."""
