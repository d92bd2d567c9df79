"""The time tick: refinement, ports, program, driver, mutants."""
