"""The self-contained HTML page of a run: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tidemark.checks.report.amounts import amount, duration
from tidemark.checks.report.forms.bundle import FOLDER, bundle_id, headline
from tidemark.checks.report.forms.diagram import svg
from tidemark.checks.report.forms.trace_text import start_text
from tidemark.checks.report.matrix import matrix
from tidemark.checks.report.page_findings import findings_with_runs, run_anchor
from tidemark.checks.report.sources import entries, pieces
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader(__package__, ""),  # also from a zip, as spark-submit has it
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")


def page(result: RunResult, *, pictures: Sequence[tuple[str, str]] = ()) -> str:
    """The page as text, with these pictures: titles and SVG texts."""
    arranged = matrix(result)
    killed, due = result.mutants()
    mutants = [j for j in result.judgements if j.verdict.subject.of_mutant]
    expected = [
        j
        for j in result.judgements
        if j.ok
        and j.verdict.outcome is Outcome.REFUTED
        and j.verdict.subject.aspect is not Aspect.MEANING
        and not j.verdict.subject.of_mutant
    ]
    shown = {
        "failures": [_shown(j, result) for j in result.failures],
        "expected": [_shown(j, result) for j in expected],
        "mutants": [_shown(j, result) for j in mutants],
    }
    found = findings_with_runs(result)
    notes = [note for items in shown.values() for item in items for note in item["sources"].values()]
    notes += [row.source for row in arranged.rows if row.source]
    notes += [finding.source for finding in found]
    return _template().render(
        result=result,
        green=result.exit_code is ExitCode.AS_EXPECTED,
        code=result.exit_code.value,
        meaning=MEANING[result.exit_code],
        matrix=arranged,
        **shown,
        killed=killed,
        due=due,
        took=duration(result.seconds),
        processor=duration(result.processor_seconds),
        slowest=[(name, duration(seconds)) for name, seconds in result.slowest()],
        tasks=_tasks(result),
        pieces=pieces,
        sources=entries(notes),
        pictures=pictures,
        findings=found,
    )


def _shown(judgement: Judgement, result: RunResult) -> dict[str, Any]:
    verdict = judgement.verdict
    trace = verdict.counterexample
    return {
        "title": headline(verdict),
        "subject": verdict.subject,
        "outcome": verdict.outcome.value,
        "expected": judgement.expected.value,
        "ok": judgement.ok,
        "reason": verdict.reason,
        "notes": verdict.notes,
        "sources": result.sources_of(verdict.subject),
        "replay": judgement.replay,
        "start": start_text(trace) if trace else [],
        "svg": svg(trace) if trace else "",
        "steps": len(trace.steps) if trace else 0,
        "bundle": f"../{FOLDER}/{bundle_id(verdict)}" if trace else "",
        "anchor": run_anchor(verdict),
    }


def _tasks(result: RunResult) -> list[dict[str, Any]]:
    """One line per check: counts in full."""
    found: dict[str, dict[str, Any]] = {}
    for j in result.judgements:
        subject = j.verdict.subject
        name = f"{subject.judge}/{subject.instance}"
        row = found.setdefault(
            name,
            {"name": name, "ok": True, "verdicts": 0, "bounds": "", "counts": {}, "size": ""},
        )
        row["ok"] = row["ok"] and j.ok
        if subject.aspect is Aspect.PIN:
            continue
        row["verdicts"] += 1
        row["bounds"] = row["bounds"] or j.verdict.bounds
        for key, count in j.verdict.counts.items():
            both = row["counts"].get(key, 0)
            row["counts"][key] = both + count if key == "obligations" else max(both, count)
    for name, row in found.items():
        row["size"] = amount(row["counts"])
        taken = result.taken_over.get(name, "")
        row["seconds"] = (
            f"taken over from {taken[:10]}" if taken else duration(result.task_seconds.get(name, 0.0))
        )
    return list(found.values())
