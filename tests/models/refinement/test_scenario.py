"""A scenario is the argument of a program: its fields are the constants of an entry."""

import pytest

from tidemark.models.protocols.sessions.program import SessionsProgram, SessionsScenario, sessions
from tidemark.models.simulation import ProgramRef
from tidemark.models.simulation.errors import ProgramError

SESSIONS = "tidemark.models.protocols.sessions.program:sessions"


def test_constants_are_the_fields():
    found = ProgramRef.of(SESSIONS, lives=[2, 1], crashes=1).load()()
    assert isinstance(found, SessionsProgram)
    assert found.scenario == SessionsScenario(lives=(2, 1), crashes=1)
    assert hash(found.scenario) == hash(SessionsScenario(lives=(2, 1), crashes=1))


def test_budgets_of_faults_are_fields_with_their_names():
    faults = SessionsScenario(lives=(1,), crashes=2).faults
    assert (faults.crashes, faults.drops) == (2, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"lives": "many"}, "SessionsScenario: lives: "), ({"lives": (1,), "crash": 1}, "crash: ")],
)
def test_what_is_no_field_is_named(given: dict[str, object], said: str):
    with pytest.raises(ProgramError, match=said):
        sessions(**given)


def test_an_argument_that_is_missing_is_named():
    with pytest.raises(ProgramError, match="missing a required argument: 'lives'") as raised:
        ProgramRef.of(SESSIONS, crashes=1).load()
    assert raised.value.place.startswith("program.py:"), "errors name the place of the scenario"
