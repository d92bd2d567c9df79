"""Run a counterexample of a specification again, with the interpreter: ``tidemark replay TOKEN``.

Replay tokens of specification runs: which instance, which property, which steps.

``run1.<base64 of a compressed list>.<check sum>``: fits on a command line, and a damaged one is noticed.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tidemark.checks.explore.lasso import broken_case, failing_text
from tidemark.checks.verdicts.commands import token_command
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.trace import BrokenRunError, counterexample, failing_conjunct, run_again
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.manifest import InstanceEntry, Manifest, instance_of
from tidemark.spec.language.spec import Property

PREFIX = "run1"


@dataclass(frozen=True)
class RunToken:
    """A run of a manifest instance: numbers of its initial state and steps, as the interpreter lists them.

    ``loop_start``: for a run that ends in a cycle, the number of the state to which its end leads back.
    """

    instance: str
    property_id: str
    initial: int
    steps: tuple[int, ...]
    loop_start: int | None = None

    def text(self) -> str:
        """The token."""
        content = [self.instance, self.property_id, self.initial, list(self.steps)]
        content += [] if self.loop_start is None else [self.loop_start]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), level=9)
        body = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        return f"{PREFIX}.{body}.{zlib.crc32(body.encode()):08x}"


def is_run_token(text: str) -> bool:
    """Does it look like a token of this kind?"""
    return text.startswith(PREFIX + ".")


def parse_token(text: str) -> RunToken:
    """Read a token back. Raises BadInputError if it was cut or changed."""
    parts = text.strip().split(".")
    if len(parts) != 3 or parts[0] != PREFIX:
        raise _corrupt(text, "it does not have three parts")
    _, body, check = parts
    if f"{zlib.crc32(body.encode()):08x}" != check:
        raise _corrupt(text, "its check sum does not fit")
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        instance, property_id, initial, steps, *loop = json.loads(zlib.decompress(packed))
        return RunToken(
            str(instance), str(property_id), int(initial), tuple(int(step) for step in steps), *map(int, loop)
        )
    except (ValueError, TypeError, binascii.Error, zlib.error) as error:
        raise _corrupt(text, str(error)) from error


def _corrupt(text: str, why: str) -> BadInputError:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return BadInputError(
        f"corrupt replay token {shown!r}: {why}",
        remedy="copy the whole token from the failure (replay.txt in its bundle)",
    )


def replay_command(
    interpreter: Interpreter,
    *,
    entry: str,
    property_id: str,
    initial: State,
    steps: Sequence[Step],
    loop_start: int | None = None,
) -> str:
    """The command that runs these steps of the manifest instance ``entry`` again; see ``RunToken``.

    Raises BrokenRunError if the initial state or a step is not the instance's.
    """
    number = next((n for n, state in enumerate(interpreter.initial()) if state == initial), None)
    places = {step: place for place, step in enumerate(interpreter.steps)}
    strange = [str(step) for step in steps if step not in places]
    if number is None or strange:
        what = f"step {strange[0]}" if strange else "the first state"
        raise BrokenRunError(f"{what} does not belong to the instance {entry}")
    token = RunToken(entry, property_id, number, tuple(places[step] for step in steps), loop_start)
    return token_command(token.text())


def replay(token: RunToken, manifests: Iterable[Manifest]) -> tuple[Counterexample, bool]:
    """The run again, decoded, and whether it still refutes its property.

    Raises BadInputError if the instance, the property or a step no longer exists or is no longer possible;
    the message says at which step the run diverges.
    """
    interpreter, initial, steps = run_of(token, manifests)
    instance = interpreter.instance
    prop = _property(instance, token.property_id)
    try:
        states = run_again(interpreter, initial, steps)
    except BrokenRunError as error:
        raise BadInputError(
            f"the run diverges: {error}",
            remedy="the specification or the instance has changed since; run the check again",
        ) from error
    failing = _failing(interpreter, prop, states, steps, token.loop_start)
    shown = counterexample(
        instance,
        states=states,
        steps=steps,
        failing=failing or f"nothing: {prop.id} holds",
        shape=Shape.RUN if token.loop_start is None else Shape.LASSO,
        loop_start=token.loop_start,
    )
    return shown, bool(failing)


def run_of(token: RunToken, manifests: Iterable[Manifest]) -> tuple[Interpreter, State, list[Step]]:
    """What a token names: the interpreter of its instance, the initial state and the steps.

    Raises BadInputError if the instance, the state or a step no longer exists.
    """
    interpreter = Interpreter(_instance(token.instance, manifests))
    steps = [_step(interpreter, number) for number in token.steps]
    initial = next((s for n, s in enumerate(interpreter.initial()) if n == token.initial), None)
    if initial is None:
        raise BadInputError(
            f"the instance {token.instance!r} has no initial state number {token.initial}",
            remedy="the specification has changed since; run the check again",
        )
    return interpreter, initial, steps


def _instance(name: str, manifests: Iterable[Manifest]) -> Instance:
    entries: dict[str, InstanceEntry] = {e.name: e for manifest in manifests for e in manifest.instance}
    if name not in entries:
        raise BadInputError(
            f"there is no instance {name!r}", remedy=known_names(name, entries, lists="tidemark show")
        )
    return instance_of(entries[name])


def _property(instance: Instance, name: str) -> Property:
    known = {prop.id: prop for prop in instance.spec.properties}
    if name not in known:
        raise BadInputError(f"there is no property {name!r}", remedy=known_names(name, known))
    return known[name]


def _step(interpreter: Interpreter, number: int) -> Step:
    if not 0 <= number < len(interpreter.steps):
        raise BadInputError(
            f"the instance has no step number {number}",
            remedy="the specification has changed since; run the check again",
        )
    return interpreter.steps[number]


def _failing(
    interpreter: Interpreter,
    prop: Property,
    states: Sequence[State],
    steps: Sequence[Step],
    loop_start: int | None,
) -> str:
    """The failing part of an invariant somewhere on the run, or what never happens; empty if all is well."""
    if prop.kind == "leads_to" and loop_start is not None and loop_start < len(states):
        case = broken_case(interpreter, prop, states=states, steps=steps, loop_start=loop_start)
        return "" if case is None else failing_text(prop, case)
    if prop.kind == "transition_invariant":
        pairs = pairwise(states)
        return next(
            (text for one, two in pairs if (text := failing_conjunct(interpreter, prop, one, two))), ""
        )
    if prop.kind in ("invariant", "lemma"):
        return next((text for state in states if (text := failing_conjunct(interpreter, prop, state))), "")
    raise BadInputError(
        f"{prop.id} is a {prop.kind}, which a finite run cannot decide",
        remedy="run its check again:  tidemark explore NAME",
    )
