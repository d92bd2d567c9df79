"""What is true: one file per protocol, written in the language of ``tidemark.spec.language``."""
