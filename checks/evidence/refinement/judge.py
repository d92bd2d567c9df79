"""Verdicts about traces, and about runs that another tool has written in the Informal Trace Format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidemark.checks.evidence.monitors.run import ordered, rows
from tidemark.checks.evidence.refinement.model import COLUMNS, KINDS, Trace, TraceError, traces
from tidemark.checks.evidence.refinement.search import HIDDEN_IN_A_ROW, Refined, refine
from tidemark.checks.evidence.table.files import Sort, Source
from tidemark.checks.evidence.table.plain import Evidence
from tidemark.checks.report.forms.itf_reader import NoRunError, model_of, read_itf, take_again
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.trace import counterexample
from tidemark.checks.verdicts.verdict import Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.instance import BadInstance, Instance
from tidemark.spec.language.errors import SpecError

CLAIM = "observed_steps_are_steps"
_JUDGE = "evidence"


def refinement_verdicts(
    read: Evidence, *, instance: str, replay: str, given: str = "", manifests: Sequence[Path] = ()
) -> list[Verdict]:
    """A verdict for the traces of each protocol, and for each run in ITF."""
    found: list[Verdict] = []
    mine = read.events.table(*COLUMNS, kinds=KINDS)
    if mine.num_rows:
        found += _traces(mine, instance, replay)
    for source in read.sources:
        if source.sort is Sort.ITF:
            found.append(_run(source, instance, replay, given=given, manifests=manifests))
    return found


def _subject(protocol: str, instance: str, name: str) -> Subject:
    return Subject(
        protocol=protocol, property_id=f"{protocol}.{CLAIM}", judge=_JUDGE, instance=f"{instance}:{name}"
    )


def _traces(mine: object, instance: str, replay: str) -> list[Verdict]:
    try:
        listed = traces(rows(ordered(mine, "source"), COLUMNS))
        return [_trace(one, instance, replay) for one in listed]
    except (TraceError, BadInstance, SpecError) as error:
        return [inconclusive(_subject("trace", instance, "trace"), reason=str(error), replay=replay)]


def _trace(trace: Trace, instance: str, replay: str) -> Verdict:
    subject = _subject(trace.protocol, instance, "trace")
    if not any(trace.streams):
        what = f"after {trace.where}, where {trace.missing} steps are missing" if trace.missing else "in it"
        return inconclusive(
            subject, reason=f"the trace has no step that could be judged ({what})", replay=replay
        )
    done = refine(trace)
    counts = {"events": done.events, "matched": done.matched, "candidates": done.candidates}
    bounds = (
        f"the {done.events} steps of the trace; not observed: at most {HIDDEN_IN_A_ROW} steps in a row of "
        f"{', '.join(trace.hidden) or 'no action'}"
    )
    if done.cut:
        reason = (
            f"{done.candidates} candidate states were tried, and {done.matched} of {done.events} steps match"
        )
        return inconclusive(subject, reason=reason, counts=counts, bounds=bounds, replay=replay)
    if not done.complete:
        return refuted(
            subject, counts=counts, counterexample=_shown(trace, done), bounds=bounds, replay=replay
        )
    if trace.missing:
        reason = f"{trace.missing} steps are missing from {trace.where} on; all before are steps"
        return inconclusive(subject, reason=reason, counts=counts, bounds=bounds, replay=replay)
    return holds(subject, counts=counts, bounds=bounds, replay=replay)


def _shown(trace: Trace, done: Refined) -> Counterexample:
    """The longest run, and the event that does not follow."""
    pairs = [(step, state) for step, state in done.run[1:] if step is not None]
    fails = "; ".join(
        f"{event.source}:{event.line} {event}: {why}"
        for event, why in zip(done.breaks, done.why, strict=True)
    )
    return counterexample(
        trace.instance,
        states=[done.run[0][1], *(state for _, state in pairs)],
        steps=[step for step, _ in pairs],
        failing=f"after {done.matched} of {done.events} steps: {fails}",
        replayable=False,
    )


def _run(source: Source, instance: str, replay: str, *, given: str, manifests: Sequence[Path]) -> Verdict:
    from tidemark.checks.inputs.instances import chosen_instance

    name = source.name
    subject = _subject("itf", instance, name)
    try:
        document = read_itf(source.path)
        model: Instance | None = chosen_instance(given, manifests=manifests) if given else model_of(document)
        if model is None:
            reason = f"{name} does not say which protocol it belongs to; name it with --instance"
            return inconclusive(subject, reason=reason, replay=replay)
        taken = take_again(document, model)
    except NoRunError as error:
        return refuted(
            subject,
            counts={"events": error.number + 1},
            counterexample=Counterexample(initial=error.before, failing=error.message),
            replay=replay,
        )
    except (BadInputError, BadInstance, SpecError) as error:
        return inconclusive(subject, reason=f"{name}: {error}", replay=replay)
    counts = {"events": max(1, len(taken.trace.steps))}
    if taken.broken:
        return refuted(subject, counts=counts, counterexample=taken.trace, replay=replay)
    return holds(
        subject, counts=counts, bounds=f"the {len(taken.trace.steps)} steps of the run", replay=replay
    )
