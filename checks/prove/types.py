"""Does a step leave the types? Then nothing else is proved: every claim speaks of states of the type.

A natural number that a run makes negative is an error of the protocol. If only the induction fails, the step
is shown once, with the number of claims that rest on it.
"""

from collections.abc import Collection, Sequence

from tidemark.checks.prove.prover import SIZE as USUAL
from tidemark.checks.prove.prover import SMALLER, ObligationOutcome
from tidemark.checks.verdicts.counterexample import show
from tidemark.checks.verdicts.errors import CheckError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.trace import BrokenRunError, run_again
from tidemark.models.instance import BadInstance
from tidemark.models.interpreted.interpreter import Interpreter, below_zero
from tidemark.models.symbolic.hints import SmallModel, small_bounds
from tidemark.models.symbolic.obligations import Obligations
from tidemark.models.symbolic.runs import search
from tidemark.models.symbolic.subject import ProofSubject

DEPTH = 14
"""Steps before the one that leaves the type, at most."""

SECONDS = 20.0
"""Limit of the search for such a run on one instance."""


class UntypedError(CheckError):
    """No run was found that makes a number negative, and no proof that there is none."""

    exit_code = ExitCode.INCONCLUSIVE


def can_fall(subject: ProofSubject) -> bool:
    """Could a step leave the types, as far as its form tells?"""
    return any(one.kind == "type" for one in Obligations(subject.spec).all())


def refuse_fall(subject: ProofSubject, *, depth: int = DEPTH, seconds: float = SECONDS) -> None:
    """Look for a run on small instances that makes a natural number negative.

    Raises BelowZeroError if there is one; BrokenRunError if the interpreter does not confirm it.
    """
    for elements, greatest in (SMALLER[-1], USUAL):
        bounds = small_bounds(subject.spec, elements=elements, greatest=greatest)
        try:
            instance = subject.instance(bounds)
            found = search(instance, {"fall": lambda runs: runs.falls()}, depth=depth, seconds=seconds).found
        except BadInstance:
            continue
        if found:
            run = found["fall"]
            interpreter = Interpreter(run.instance)
            if tuple(run_again(interpreter, run.states[0], run.steps)) != run.states:
                raise BrokenRunError("the interpreter comes to other states")
            raise below_zero(interpreter, run.states, run.steps)


def not_typed(outcomes: Sequence[ObligationOutcome], *, claims: Collection[str]) -> UntypedError:
    """The error for type obligations that are not proved: one of them with its state and step, if known."""
    first = min(outcomes, key=lambda outcome: outcome.model is None)
    more = f" (and {len(outcomes) - 1} more)" if len(outcomes) > 1 else ""
    why = _step(first.model) if first.model is not None else f"{first.answer.reason or 'no answer in time'}; "
    return UntypedError(
        f"{first.obligation.name} is not proved{more}: {why}{len(claims)} claims rest on it",
        remedy=f"require in {first.obligation.action} what keeps the number from becoming negative, assign "
        "maximum(..., 0), declare its type with Int(), or add the lemma that excludes this state",
    )


def _step(model: SmallModel) -> str:
    """The step, what it makes negative, and the state before, which may be reachable or not."""
    assert model.step is not None
    interpreter = Interpreter(model.instance)
    found = interpreter.transition(model.before, model.step)
    if found is None or found.below is None:
        raise RuntimeError(f"the interpreter does not confirm {model.step}: the bounded encoding is wrong")
    names = [variable.name for variable in interpreter.spec.variables]
    state = ", ".join(f"{n} = {show(v)}" for n, v in zip(names, model.before, strict=True))
    return (
        f"the step {model.step} {found.below}, from a state of {model.instance.bounds_text()} to which no "
        f"run of up to {DEPTH} steps was found:\n  {state}\n"
    )
