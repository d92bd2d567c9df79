"""``python -m tidemark.bench``."""

from tidemark.bench.cli import app

if __name__ == "__main__":
    app()
