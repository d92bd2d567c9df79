"""``python -m tidemark.checks`` is ``tidemark``."""

from tidemark.checks.cli.app import app

app()
