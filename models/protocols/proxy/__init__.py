"""The proxy: refinement, ports, program, driver, mutants."""
