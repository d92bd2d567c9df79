"""A proxy that is paused past its lease: variants, mutants."""
