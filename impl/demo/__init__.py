"""A demonstration with real files and a real kill: ``python -m tidemark.impl.demo``."""
