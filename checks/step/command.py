"""``tidemark step``: walk through an instance, or a counterexample, by hand or from a script."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tidemark.checks.explore.replay import is_run_token, parse_token, run_of
from tidemark.checks.inputs.instances import chosen_instance
from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.step.commands import Commands
from tidemark.checks.step.session import Session
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.interpreted.interpreter import Interpreter

_PROMPT = "> "


def step(name: str, *, bounds: Sequence[str], constants: Sequence[str], manifests: Sequence[Path]) -> int:
    """Read commands from the standard input until it ends, or ``quit``.

    ``name``: an instance of a manifest, ``module:Class`` with its bounds, or a replay token. From a terminal
    there is a prompt; otherwise each command is repeated before its answer, and one that is refused makes
    the exit status that of bad input.
    """
    session = _session(name, bounds=bounds, constants=constants, manifests=manifests)
    commands = Commands(session)
    instance = session.interpreter.instance
    print(f"{instance.name}: {instance.bounds_text()}; commands: help")
    _say(commands.enabled())
    refused = False
    typed = sys.stdin.isatty()
    while not commands.ended:
        if typed:
            print(_PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            break
        if not typed:
            print(f"{_PROMPT}{line.rstrip()}")
        try:
            _say(commands.do(line))
        except BadInputError as error:
            print(f"{error.message}\n  remedy: {error.remedy}")
            refused = not typed
    return (ExitCode.BAD_INPUT if refused else ExitCode.AS_EXPECTED).value


def _say(lines: Iterable[str]) -> None:
    for text in lines:
        print(text)


def _session(
    name: str, *, bounds: Sequence[str], constants: Sequence[str], manifests: Sequence[Path]
) -> Session:
    if is_run_token(name):
        interpreter, initial, steps = run_of(parse_token(name), read(manifests))
        return Session(interpreter, planned=steps, states=[initial])
    if name.startswith("tm1-"):
        raise BadInputError(
            "this is the token of a run of an implementation, whose steps cannot be chosen by hand",
            remedy=f"see it step by step:  tidemark replay {name[:12]}...",
        )
    if manifests:
        loaded(manifests)  # the modules beside them can be imported now
    chosen = chosen_instance(name, bounds=bounds, constants=constants, manifests=manifests, say=print)
    return Session(Interpreter(chosen))
