"""``python -m tidemark.bench``."""

from __future__ import annotations

from tidemark.bench.cli import app

if __name__ == "__main__":
    app()
