"""The table of the page on mutants of the implementation."""

from __future__ import annotations

from tidemark.checks.mutation.implementation.fate import BY, FATE, REVIEWED
from tidemark.checks.report.page.rows import Slips, slips
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome, Subject, holds, refuted


def _tried(mutant: str, *notes: str) -> Judgement:
    subject = Subject(protocol="p", property_id=mutant, judge="mutate", instance="places", aspect=Aspect.SLIP)
    killed = notes[0].startswith(f"{FATE}killed")
    verdict = (
        refuted(
            subject, counts={"executions": 1}, counterexample=None, reason="it is", replay="r", notes=notes
        )
        if killed
        else holds(subject, counts={"executions": 1}, bounds="one entry", replay="r", notes=notes)
    )
    return Judgement(verdict=verdict, expected=Outcome.REFUTED if killed else Outcome.HOLDS)


def test_each_file_has_a_row_with_fates_and_killers():
    found = slips(
        [
            _tried("b.py:f/flipped@1", f"{FATE}killed{BY}life"),
            _tried("a.py:f/flipped@1", f"{FATE}killed{BY}life"),
            _tried("a.py:f/flipped@2", f"{FATE}survived", f"{REVIEWED}it is set before it is read"),
            _tried("a.py:f/flipped@3", f"{FATE}killed{BY}driven"),
            _tried("a.py:f/flipped@4", f"{FATE}killed{BY}life"),
        ]
    )
    assert found == [
        Slips(file="a.py", tried=4, fates="killed 3, survived 1", killers="life 2, driven 1", reviewed=1),
        Slips(file="b.py", tried=1, fates="killed 1", killers="life 1", reviewed=0),
    ]


def test_no_trial_no_table():
    assert slips([]) == []
