"""A protocol as a TLA+ module, and a bounded instance of it as TLC's configuration."""

from tidemark.models.exports.tla.module import TlaModule, to_tla

__all__ = ["TlaModule", "to_tla"]
