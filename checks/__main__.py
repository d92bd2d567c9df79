"""``python -m checks`` is ``tidemark``."""

from checks.cli import app

app()
