"""A protocol as a TLA+ module, and a bounded instance of it as TLC's configuration."""

from models.tla.module import TlaModule, to_tla

__all__ = ["TlaModule", "to_tla"]
