"""``tidemark step``: walk through an instance, or a counterexample, by hand or from a script."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.checks.explore.replay import is_run_token, parse_token, run_of
from tidemark.checks.inputs.manifests import chosen_instance, loaded
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.report.forms.trace_text import field_text
from tidemark.checks.step.session import Session
from tidemark.checks.verdicts.counterexample import show
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.trace import counterexample
from tidemark.models.interpreted.evaluate import Env, State
from tidemark.models.interpreted.interpreter import Interpreter, Step, Transition
from tidemark.spec import language
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Const, Expr
from tidemark.spec.language.protocol import declared_by, resolve
from tidemark.spec.language.spec import Property
from tidemark.spec.language.terms import Term
from tidemark.spec.language.tracing import view_of
from tidemark.spec.language.types import MapType, SortType, Type

_REMEDY = "write it as in a property of the protocol, for example  s.saved >= 1  or  s.given[2]"


class _Open(Term):
    """A value beside which an element of a sort may be written as its number: ``s.holder[0]``."""

    __slots__ = ()
    __hash__ = None

    def __getitem__(self, keys: Any) -> Term:
        kind = self.expr.type
        items = keys if isinstance(keys, tuple) else (keys,)
        if isinstance(kind, MapType) and len(kind.keys) == len(items):
            items = tuple(_element(item, key) for item, key in zip(items, kind.keys, strict=True))
        return _Open(super().__getitem__(items).expr)

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return super().__eq__(_element(other, self.expr.type))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return super().__ne__(_element(other, self.expr.type))


def _element(value: Any, kind: Type) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return Term(Const(kind, value)) if is_number and isinstance(kind, SortType) else value


class _View:
    """The state, with its variables open to numbers for elements."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._view, name)
        return _Open(found.expr) if isinstance(found, Term) else found


def evaluate(interpreter: Interpreter, state: State, text: str) -> str:
    """The value of an expression of the specification language; ``s`` is the state, variables and types may
    also be written without it. Elements of a sort are written as their numbers.

    Raises BadInputError: no such expression, or it has no value here.
    """
    protocol = resolve(interpreter.instance.protocol)
    view = _View(view_of(protocol, declared_by(protocol)))
    names = {name: getattr(language, name) for name in language.__all__}
    names |= {name: getattr(view, name) for name in declared_by(protocol).names()}
    try:
        # The user's own text at the user's own terminal, as in a debugger.
        found: Any = eval(text, names | {"s": view, "self": view})  # noqa: S307
    except SpecError as error:
        raise BadInputError(f"{text}: {error.problem}", remedy=error.remedy) from error
    except Exception as error:
        raise BadInputError(f"{text}: {type(error).__name__}: {error}", remedy=_REMEDY) from error
    if not isinstance(found, Term):
        return str(found)
    return _value(interpreter, state, found.expr)


def _value(interpreter: Interpreter, state: State, expr: Expr) -> str:
    instance = interpreter.instance
    asked = Property("asked", "invariant", expr, "", "")
    raw = replace(instance.traced(), actions=(), assumptions=(), initially=(), properties=(asked,))
    maps = {variable.name for variable in raw.constants if isinstance(variable.type, MapType)}
    given = {name: value for name, value in instance.constants.items() if name not in maps}
    expr = raw.with_options(given).properties[0].expr
    if not isinstance(expr.type, MapType):
        return _shown(interpreter.evaluate(expr, state))
    values = interpreter.compiler.table(expr)(Env(state))
    entries = zip(instance.entries(expr.type), values, strict=True)
    return "\n".join(f"[{', '.join(map(str, at))}] {_shown(value)}" for at, value in entries)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Answer = Iterator[str]
_CALL = re.compile(r"(?P<action>\w+)\s*(?:\((?P<brackets>[^()]*)\)|(?P<words>(?:\s+\S+)*))\s*")

HELP = """\
enabled              the steps that are possible, numbered, with what each changes
NUMBER               take the step of this number
ACTION ARGUMENTS     take this step:  give, save_ahead 2, save_ahead(2), save_ahead window=2
next [NUMBER]        take the next step (or so many) of the counterexample that is replayed
why [ACTION [ARGS]]  the conjuncts of the guards that keep steps from being possible
state [VARIABLE]     the state, or one variable
= EXPRESSION         the value of an expression here:  = s.saved - s.last,  = forall(s.Time, lambda t: ...)
claims               the claims that this state (or the last step) breaks
run                  the steps so far
back [NUMBER]        go back a step, or so many
start [NUMBER]       begin again, in the initial state of this number
help, quit"""


class Commands:
    """Carries out commands on a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.ended = False
        self._commands: dict[str, Callable[[list[str]], Answer]] = {
            "enabled": lambda _words: self.enabled(),
            "next": self._next,
            "why": self._why,
            "state": self._state,
            "claims": lambda _words: self._claims(),
            "run": lambda _words: self._run(),
            "back": self._back,
            "start": self._start,
            "help": lambda _words: iter(HELP.splitlines()),
            "quit": lambda _words: self._quit(),
        }

    def do(self, line: str) -> Answer:
        """Carry out a line and say what came of it. Raises BadInputError if it cannot be carried out."""
        text = line.strip()
        if not text or text.startswith("#"):
            return
        if text.startswith("="):
            yield evaluate(self.session.interpreter, self.session.state, text[1:].strip())
            return
        if text.isdigit():
            number = int(text)
            found: list[Transition] = self.session.enabled()
            if not 1 <= number <= len(found):
                raise BadInputError(
                    f"there is no step {number}", remedy=f"{len(found)} are enabled: see  enabled"
                )
            yield from self._take(found[number - 1].step)
            return
        try:
            name, *words = shlex.split(text)
        except ValueError as error:
            raise BadInputError(f"{text}: {error}", remedy="see  help") from error
        command = self._commands.get(name)
        if command is not None:
            yield from command(words)
        else:
            yield from self._take(self._step(text))

    def enabled(self) -> Answer:
        """The steps that are possible."""
        found = self.session.enabled()
        following = self.session.following()
        if not found:
            yield "no step is possible: see  why"
        for number, one in enumerate(found, start=1):
            changes = "; ".join(self.session.changes(one.state)) or "nothing changes"
            beyond = "" if one.in_bounds else "  (leaves the bounds)"
            if one.below is not None:
                beyond = f"  (an error of the protocol: it {one.below})"
            planned = "  <- next" if one.step == following else ""
            yield f"{number:>3}. {self._text(one.step)}: {changes}{beyond}{planned}"

    def _text(self, step: Step) -> str:
        params = self.session.interpreter.spec.action(step.action).params
        given = ", ".join(f"{p.name}={show(value)}" for p, value in zip(params, step.args, strict=True))
        return f"{step.action}({given})" if given else step.action

    def _take(self, step: Step) -> Answer:
        before = self.session.state
        self.session.take(step)
        after = self.session.state
        self.session.states.pop()  # the changes are those of the state before
        changes = self.session.changes(after)
        self.session.states.append(after)
        assert self.session.states[-2] is before
        yield f"{len(self.session.steps)}. {self._text(step)}"
        yield from (f"     {change}" for change in changes or ["nothing changes"])
        yield from self._claims(quiet=True)

    def _step(self, text: str) -> Step:
        """The step that a line names. Raises BadInputError."""
        match = _CALL.fullmatch(text)
        if match is None:
            raise BadInputError(f"{text!r} is neither a command nor a step", remedy="see  help")
        name = match["action"]
        actions = [action.name for action in self.session.interpreter.spec.actions]
        if name not in actions:
            known = known_names(name, [*actions, *self._commands])
            raise BadInputError(f"there is no command and no action {name!r}", remedy=known)
        given = match["brackets"].split(",") if match["brackets"] is not None else match["words"].split()
        return self._with_arguments(name, [word.strip() for word in given if word.strip()])

    def _with_arguments(self, name: str, given: list[str]) -> Step:
        params = [param.name for param in self.session.interpreter.spec.action(name).params]
        values = [word.rpartition("=")[2] for word in given]
        names = [word.rpartition("=")[0] or params[at : at + 1] for at, word in enumerate(given)]
        wanted = {n if isinstance(n, str) else "".join(n): v for n, v in zip(names, values, strict=True)}
        if set(wanted) != set(params) or len(given) != len(params):
            raise BadInputError(
                f"{name} with {', '.join(given) or 'no arguments'}",
                remedy=f"it takes {', '.join(params) or 'no arguments'}",
            )
        for step in self.session.steps_of(name):
            if [show(value) for value in step.args] == [wanted[param] for param in params]:
                return step
        known = dict.fromkeys(str(step) for step in self.session.steps_of(name))
        raise BadInputError(
            f"there is no step {name} with {', '.join(given)}", remedy=known_names(name, known)
        )

    def _next(self, words: list[str]) -> Answer:
        for _ in range(_number(words)):
            step = self.session.following()
            if step is None:
                raise BadInputError(
                    "there is no next step of a counterexample",
                    remedy="give a replay token instead of a name, or go back to where you left its run",
                )
            yield from self._take(step)

    def _why(self, words: list[str]) -> Answer:
        session = self.session
        if len(words) > 1 or (words and "(" in words[0]):
            step = self._step(" ".join(words))
            yield from session.why(step) or [f"{self._text(step)} is enabled"]
            return
        wanted = session.steps_of(words[0]) if words else list(session.interpreter.steps)
        reasons: dict[tuple[str, str], list[Step]] = {}
        for step, found in session.disabled():
            if step in wanted:
                key = (step.action, found[0] if words else found[0].partition("  fails: ")[0])
                reasons.setdefault(key, []).append(step)
        if not reasons:
            yield "every step is enabled"
        for (action, reason), steps in reasons.items():
            of_all = len(session.steps_of(action))
            which = self._text(steps[0]) if len(steps) == 1 else f"{action}, {len(steps)} of {of_all} steps"
            yield f"{which}: {reason}"

    def _state(self, words: list[str]) -> Answer:
        instance = self.session.interpreter.instance
        trace = counterexample(instance, states=[self.session.state], steps=[], failing="nothing")
        unknown = [word for word in words if word not in trace.initial]
        if unknown:
            raise BadInputError(
                f"there is no variable {unknown[0]!r}", remedy=known_names(unknown[0], trace.initial)
            )
        for name in words or trace.initial:
            yield f"{name} = {field_text(trace, name, trace.initial[name])}"

    def _claims(self, *, quiet: bool = False) -> Answer:
        broken = self.session.broken()
        if not broken and not quiet:
            yield "every claim about a state or a step holds here"
        yield from (f"BROKEN {name}: {part}" for name, part in broken.items())

    def _run(self) -> Answer:
        if not self.session.steps:
            yield "no step was taken"
        for number, step in enumerate(self.session.steps, start=1):
            yield f"{number}. {self._text(step)}"

    def _back(self, words: list[str]) -> Answer:
        self.session.back(_number(words))
        last: Any = self.session.steps[-1] if self.session.steps else None
        yield f"after step {len(self.session.steps)}, {self._text(last)}" if last else "before the first step"

    def _start(self, words: list[str]) -> Answer:
        self.session.start(_number(words, otherwise=0))
        yield "before the first step"

    def _quit(self) -> Answer:
        self.ended = True
        yield from ()


def _number(words: list[str], *, otherwise: int = 1) -> int:
    """The only argument of a command that takes a number or nothing."""
    if not words:
        return otherwise
    if len(words) > 1 or not words[0].isdigit():
        raise BadInputError(f"{' '.join(words)} is not a number", remedy="see  help")
    return int(words[0])


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
