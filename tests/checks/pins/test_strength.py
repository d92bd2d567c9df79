"""Claims that have changed: weaker, stronger, or what the prover cannot tell."""

from dataclasses import replace

import pytest

from tests.protocols.changing import Claims
from tidemark.checks.pins.strength import compared

pytestmark = pytest.mark.proof
CANNOT_TELL = "the prover cannot tell whether it is weaker or stronger"


SPEC = Claims.trace()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("small", "small_if_ready", "weaker than before"),
        ("small_if_ready", "small", "stronger than before"),
        ("small", "less_than_four", "as strong as before"),
        ("small", "all_ready", CANNOT_TELL),
        ("grows", "grows_by_one", "stronger than before"),
        ("gets_ready", "gets_ready_late", "weaker than before"),
        ("gets_ready_late", "gets_ready", "stronger than before"),
        ("gets_ready", "gets_ready_by_itself", CANNOT_TELL),
        ("small", "grows", CANNOT_TELL),
    ],
)
def test_the_prover_tells_what_is_weaker(old: str, new: str, words: str) -> None:
    assert compared(SPEC.property(f"claims.{old}"), SPEC.property(f"claims.{new}"), SPEC) == words


def test_what_is_read_of_a_variable_that_is_gone_cannot_be_compared() -> None:
    fewer = replace(SPEC, variables=tuple(one for one in SPEC.variables if one.name != "ready"))
    assert compared(SPEC.property("claims.all_ready"), SPEC.property("claims.small"), fewer) == CANNOT_TELL
    assert compared(None, SPEC.property("claims.small"), SPEC) == CANNOT_TELL
