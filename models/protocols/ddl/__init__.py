"""The coordinator's own minimum: refinement, program, mutants."""
