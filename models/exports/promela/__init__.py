"""A bounded instance as a Promela model for Spin: one process, one atomic option for each step."""

from tidemark.models.exports.promela.module import flags, to_promela
from tidemark.models.exports.promela.steps import WITNESSES

__all__ = ["WITNESSES", "flags", "to_promela"]
