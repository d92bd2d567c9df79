"""Guards of several reasons: TLC takes each reason that holds as a step of its own, and counts it."""

from collections.abc import Sequence

from tidemark.spec.language import any_of
from tidemark.spec.language.terms import Term


def holds(reasons: Sequence[Term], why: Term) -> Term:
    """The reason with the number ``why`` holds."""
    return any_of(*((why == number) & reason for number, reason in enumerate(reasons)))
