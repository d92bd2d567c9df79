"""The loggers of the roles, one for each folder: a role gives Milvus' message and its fields.

They write nothing until a listener lowers the level of ``ROLES``, as ``cluster/lines.py`` does.
"""

from logging import CRITICAL, DEBUG, INFO, WARNING, getLogger
from typing import Protocol

__all__ = ["DEBUG", "ROLES", "WARNING", "Log", "log_of"]

ROLES = getLogger(__package__)
ROLES.setLevel(CRITICAL)


class Log(Protocol):
    """Writes a line: the record has the ``fields``."""

    def __call__(self, message: str, level: int = INFO, /, **fields: object) -> None:
        """Message, level and fields."""


def log_of(role: str | None) -> Log:
    """What writes the lines of a role."""
    logger = getLogger(role)

    def log(message: str, level: int = INFO, /, **fields: object) -> None:
        # Not by isEnabledFor, which handles an exception the first time: that leaves a mark in the coroutine
        # that called, and its state looks like another one.
        if level >= logger.getEffectiveLevel():
            logger.log(level, message, extra={"fields": fields}, stacklevel=2)

    return log
