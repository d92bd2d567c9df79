"""Tidemark proves and tests protocols. Questions about one, with answers as objects and runs as rows::

    from tidemark import explore, prove

    answer = explore("lease:Lease", claims=["was_given"], bounds={"Node": 3})
    answer.ok, answer["was_given"].outcome, answer.trace("was_given")

Protocols are written with the words of ``tidemark.spec.language``. What a question needs is loaded when it is
asked.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidemark.checks.questions.ask import Answer, explore, prove

__version__: str
__all__ = ["Answer", "__version__", "explore", "prove"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib import metadata  # loads what mails are made of: a tenth of the start

        return metadata.version("tidemark")
    if name in __all__:
        from tidemark.checks.questions import ask  # loads the engines

        return getattr(ask, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
