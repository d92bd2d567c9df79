"""The searches: the whole tree, a part of it, random walks, a replay; and cutting a tree in parts."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from checks.interleave.depth_first import DepthFirst
from checks.interleave.determinism import check_again
from checks.interleave.errors import CorruptTokenError, UnsoundReductionError
from checks.interleave.limits import Limits, Meter
from checks.interleave.random_walk import RandomWalk
from checks.interleave.replay import Exact
from checks.interleave.result import Exploration, Found
from checks.interleave.run import Ending, Run, run_once
from checks.interleave.strategy import Strategy
from checks.interleave.token import decode, encode
from checks.interleave.traces import trace_digest
from checks.interleave.work import WHOLE, WorkItem
from models.scheduled import Interner, Program, ProgramRef, closed_world

Tick = Callable[[Exploration], None]

_COLLECT_EVERY = 1009
_CHECK_EVERY = 997
_AUDIT_SEED = 20240229


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to search. The defaults are the ones for a gate."""

    reduction: bool = True
    """Use sleep sets."""
    limits: Limits = field(default_factory=Limits)
    stop_at_violation: bool = False
    """End the search at the first violation."""
    classes: bool = False
    """Collect digests of the Mazurkiewicz traces."""
    audit: int = 20
    """Random executions that an exhaustive search must explain: it has seen their outcomes and violations
    as well. 0: no audit."""
    check_every: int = _CHECK_EVERY
    """Run the first execution, and each one whose number is a multiple of this, twice. 0: never."""


def explore(
    program: ProgramRef, options: Options | None = None, *, item: WorkItem = WHOLE, tick: Tick | None = None
) -> Exploration:
    """Search every interleaving of a program within its declared bounds.

    Args:
        program: the program.
        options: how to search.
        item: the part of the tree to search; the whole by default.
        tick: called about once a thousand executions with the result so far.

    Raises:
        NondeterminismError, DivergenceError: the program is not a function of its choices.
        ProgramError: the program is put together wrongly.
    """
    options = options or Options()
    interner = Interner()
    strategy = DepthFirst(interner, reduction=options.reduction, item=item)
    sample = random_sample(program, options) if item == WHOLE else Exploration()
    result = _search(program, strategy, interner, options, tick)
    if not result.violations or not options.stop_at_violation:
        result.remaining = tuple(strategy.remaining()) if result.remaining else ()
    check_explained(result, sample)
    result.statistics.audited = sample.statistics.executions
    reduced = "sleep sets" if options.reduction else "no reduction"
    result.bounds = f"{program.load()().settings.text()}; every interleaving ({reduced})"
    return result


def explore_subtree(
    program: ProgramRef, item: WorkItem, *, budget: int, options: Options | None = None
) -> Exploration:
    """Search a part of the tree for at most `budget` executions. What is left is in `remaining`.

    The result is a function of the arguments alone: running it again, elsewhere, gives the same.
    """
    options = options or Options()
    limits = Limits(steps=options.limits.steps, executions=budget)
    part = Options(
        reduction=options.reduction,
        limits=limits,
        classes=options.classes,
        check_every=options.check_every,
    )
    result = explore(program, part, item=item)
    result.reasons = tuple(reason for reason in result.reasons if not reason.startswith("the limit of"))
    return result


def split(
    program: ProgramRef, target: int, *, options: Options | None = None
) -> tuple[Exploration, list[WorkItem]]:
    """Cut the tree into at least `target` parts, if it is that large.

    Returns:
        The executions that were complete on the way, and the parts. Together they are the whole tree.
    """
    options = options or Options()
    done = Exploration()
    items = [WHOLE]
    parts: list[Exploration] = [done]
    while items and len(items) < target:
        part = explore_subtree(program, items.pop(0), budget=1, options=options)
        items += part.remaining
        part.remaining = ()
        parts.append(part)
    return _merged(parts), items


def explore_randomly(
    program: ProgramRef,
    *,
    seed: int,
    executions: int,
    options: Options | None = None,
    tick: Tick | None = None,
) -> Exploration:
    """Run random executions. The result is `refuted` or `inconclusive`, never a pass."""
    options = options or Options()
    result = _search(program, RandomWalk(seed=seed, executions=executions), Interner(), options, tick)
    result.reasons = (*result.reasons, f"{executions} random executions (seed {seed}) are a sample")
    result.remaining = ()
    return result


def replay(program: ProgramRef, token: str, *, steps: int = Limits().steps) -> Run:
    """Run the execution of a token again.

    Raises:
        CorruptTokenError, WrongProgramError: the token cannot be used.
        DivergenceError: the program no longer behaves as recorded.
    """
    content = decode(token)
    content.check_program(program.digest(), program.text())
    if not content.picks:
        raise CorruptTokenError(
            "the replay token holds no step", remedy="use the token of a failing execution"
        )
    strategy = Exact(content.picks, fingerprints=content.fingerprints)
    with quiet():
        return run_once(program.load(), strategy, interner=Interner(), steps=steps)


def random_sample(program: ProgramRef, options: Options) -> Exploration:
    """Run the executions of the audit."""
    if not options.reduction or not options.audit:
        return Exploration()
    few = replace(options, limits=Limits(steps=options.limits.steps), check_every=0, stop_at_violation=False)
    return _search(program, RandomWalk(seed=_AUDIT_SEED, executions=options.audit), Interner(), few, None)


def check_explained(result: Exploration, sample: Exploration) -> None:
    """Compare an exhaustive search with random executions.

    Raises:
        UnsoundReductionError: a random execution has an outcome, a trace or a violation that a complete
            search with reduction did not see.
    """
    if result.remaining or result.reasons:
        return
    known = {violation.identity for violation in result.violations}
    for violation, found in sample.violations.items():
        if violation.identity not in known:
            raise _unexplained(f"the violation {violation.message!r} (token {found.token})")
    if result.violations:
        return
    for final in sample.finals - result.finals:
        raise _unexplained(f"the outcome {final!r}")
    if sample.classes - result.classes:
        raise _unexplained("a Mazurkiewicz trace")


def _unexplained(what: str) -> UnsoundReductionError:
    return UnsoundReductionError(
        f"a random execution shows {what}, which the search with reduction has missed",
        remedy="let each step record what it touches (World.touch), let processes share nothing but the "
        "objects of the world, and let a check of single steps see the world through Program.observe only",
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Close the world, and keep the cyclic garbage collector from running finalisers inside executions."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with closed_world.installed():
            yield
    finally:
        if was_enabled:
            gc.enable()


def _search(
    program: ProgramRef, strategy: Strategy, interner: Interner, options: Options, tick: Tick | None
) -> Exploration:
    factory: Callable[[], Program] = program.load()
    result = Exploration()
    meter = Meter(options.limits)
    digest = program.digest()
    with quiet():
        while strategy.new_execution():
            run = run_once(factory, strategy, interner=interner, steps=options.limits.steps)
            meter.executions += 1
            _account(result, run, digest, interner, options)
            sampled = options.check_every and meter.executions % options.check_every == 1
            if sampled or run.violation is not None:
                caught = check_again(factory, run, interner=interner, strict=bool(sampled))
                result.statistics.checked_again += 1
                if caught is not None:
                    _record(result, caught, digest)
            if meter.executions % _COLLECT_EVERY == 0:
                gc.collect()
                if tick is not None:
                    result.seconds = meter.seconds
                    tick(result)
            if result.violations and options.stop_at_violation:
                break
            reached = meter.reached()
            if reached is not None:
                result.remaining = (WHOLE,)
                result.reasons = (*result.reasons, reached)
                break
    result.seconds = meter.seconds
    if result.statistics.cut:
        words = f"{result.statistics.cut} executions were cut after {options.limits.steps} steps"
        result.reasons = (*result.reasons, words)
    return result


def _account(result: Exploration, run: Run, digest: str, interner: Interner, options: Options) -> None:
    counters = result.statistics
    counters.steps += len(run.trace)
    counters.visible_steps += run.visible_steps
    counters.deepest = max(counters.deepest, len(run.trace))
    if run.ending is Ending.BLOCKED:
        counters.blocked += 1
        return
    if run.ending is Ending.CUT:
        counters.cut += 1
        return
    counters.executions += 1
    counters.timer_bounded += run.timers_spent
    if options.classes:
        result.classes.add(trace_digest(run.trace, interner))
    if run.violation is None:
        result.finals.add(run.final)
        return
    _record(result, run, digest)


def _record(result: Exploration, run: Run, digest: str) -> None:
    assert run.violation is not None
    known = result.violations.get(run.violation)
    labels = tuple(step.label for step in run.trace)
    candidate = Found(run.violation, run.picks, labels, "")
    if known is None or candidate.rank() < known.rank():
        result.record(Found(run.violation, run.picks, labels, encode(digest, run.trace)))


def _merged(parts: list[Exploration]) -> Exploration:
    from checks.interleave.result import merge

    return merge(parts, bounds="")
