"""Walking through an instance by hand: ``tidemark step``."""
