"""A proxy that is paused past its lease: what becomes of the rows that it appends when it goes on."""

from tidemark.spec.paused.lemmas import Paused

__all__ = ["Paused"]
