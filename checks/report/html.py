"""The self-contained HTML pages of a run: no script, font or picture from elsewhere.

``index.html`` has what is not as expected, the properties, the checks, the mutants; ``runs-PROTOCOL.html``
the counterexamples that are expected. A page of runs is written again only if one of its runs is another.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined, Template

from tidemark.checks.report.forms.bundle import FOLDER, bundle_id
from tidemark.checks.report.forms.diagram import svg
from tidemark.checks.report.forms.trace_text import start_text, trace_text
from tidemark.checks.report.matrix import Failure, amount, duration, failures, matrix
from tidemark.checks.report.page.rows import (
    KINDS,
    Links,
    findings_with_runs,
    has_expected_run,
    lines,
    run_anchor,
    run_data,
    run_link,
    runs_page,
    sections,
    slips,
)
from tidemark.checks.report.sources import entries, pieces
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode
from tidemark.checks.verdicts.result import RunResult, SourceNote
from tidemark.checks.verdicts.verdict import Aspect, Judgement

INDEX = "index.html"
HERE = Path("build") / "report"
"""The folder of the pages, if none is given."""


class Page(NamedTuple):
    """A page that may have to be written: what its text depends on, and the text itself."""

    name: str
    key: str
    text: Callable[[], str]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "page"),  # also from a zip, as spark-submit has it
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=FileSystemBytecodeCache(),  # to compile the templates takes longer than to fill them
    )
    environment.globals.update(pieces=pieces, lines=lines, json=_embedded)
    return environment


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _own_text() -> str:
    """Digest of the texts from which the pages are made."""
    folder = Path(__file__).parent
    files = [path for part in ("page", "forms") for path in sorted((folder / part).glob("*.*"))]
    digest = hashlib.sha256()
    for path in [Path(__file__), *files]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _embedded(data: Any) -> str:
    """JSON that can be written inside of an element ``script``."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def pages(
    result: RunResult,
    *,
    pictures: Sequence[tuple[str, str]] = (),
    graphs: Sequence[tuple[str, str]] = (),
    here: Path = HERE,
) -> Iterator[Page]:
    """The pages of a run; see ``page``. Those of the runs come first, so that no link leads to nothing."""
    by_protocol: dict[str, list[Judgement]] = {}
    for one in result.judgements:
        if has_expected_run(one):
            by_protocol.setdefault(one.verdict.subject.protocol, []).append(one)
    for protocol, group in by_protocol.items():
        told = repr((_own_text(), [_told(one) for one in group]))
        key = hashlib.sha256(told.encode()).hexdigest()
        yield Page(runs_page(protocol), key, partial(_runs, protocol, group, result))
    yield Page(INDEX, "", lambda: page(result, pictures=pictures, graphs=graphs, here=here))


def _told(one: Judgement) -> tuple[object, ...]:
    """What a run on a page depends on: its verdict, its steps, where it begins and ends."""
    verdict = one.verdict
    trace = verdict.counterexample
    assert trace is not None
    steps = [(step.action, *step.args.values(), step.note) for step in trace.steps]
    states = trace.states()
    told = (verdict.subject.text(), one.replay, verdict.bounds, verdict.reason, verdict.notes)
    return (*told, trace.failing, steps, states[0], states[-1], trace.loop_start)


def page(
    result: RunResult,
    *,
    pictures: Sequence[tuple[str, str]] = (),
    graphs: Sequence[tuple[str, str]] = (),
    here: Path = HERE,
) -> str:
    """The index as text. ``graphs``: of small state spaces: names of instances and SVG texts."""
    arranged = matrix(result)
    killed, due = result.mutants()
    links = Links(here, result.places)
    found = findings_with_runs(result)
    notes: list[SourceNote] = [row.source for row in arranged.rows if row.source]
    notes += [finding.source for finding in found]
    shown = [_failure(one, result, links) for one in failures(result)]
    notes += [note for item in shown for note in item["sources"].values()]
    return _template("index.html.j2").render(
        result=result,
        green=result.exit_code is ExitCode.AS_EXPECTED,
        code=result.exit_code.value,
        meaning=MEANING[result.exit_code],
        matrix=arranged,
        sections=sections(arranged),
        kinds=KINDS,
        links=links,
        failures=shown,
        expected=[_brief(j) for j in result.judgements if has_expected_run(j) and not _mutant(j)],
        mutants=[_brief(j) for j in result.judgements if _mutant(j)],
        slips=slips(result.judgements),
        killed=killed,
        due=due,
        took=duration(result.seconds),
        processor=duration(result.processor_seconds),
        slowest=[(name, duration(seconds)) for name, seconds in result.slowest()],
        tasks=_tasks(result),
        sources=entries(notes),
        pictures=pictures,
        graphs=graphs,
        findings=found,
    )


def _runs(protocol: str, group: Sequence[Judgement], result: RunResult) -> str:
    shown = [_shown(one, result) for one in group]
    notes = [note for item in shown for note in item["sources"].values()]
    return _template("runs.html.j2").render(protocol=protocol, runs=shown, sources=entries(notes))


def _mutant(one: Judgement) -> bool:
    return one.verdict.subject.of_mutant


def _brief(one: Judgement) -> dict[str, Any]:
    """A line in a list, with a link to the run."""
    verdict = one.verdict
    trace = verdict.counterexample
    return {
        "subject": verdict.subject,
        "outcome": verdict.outcome.value,
        "ok": one.ok,
        "steps": len(trace.steps) if trace else 0,
        "link": run_link(one) if trace else "",
    }


def _shown(one: Judgement, result: RunResult) -> dict[str, Any]:
    verdict = one.verdict
    trace = verdict.counterexample
    return _brief(one) | {
        "expected": one.expected.value,
        "bounds": verdict.bounds,
        "reason": verdict.reason,
        "notes": [note for note in verdict.notes if note not in verdict.reason],
        "sources": result.sources_of(verdict.subject),
        "replay": one.replay,
        "start": start_text(trace) if trace else [],
        "text": "",
        "svg": svg(trace) if trace else "",
        "data": run_data(trace) if trace and trace.steps and trace.initial else None,
        "bundle": f"../{FOLDER}/{bundle_id(verdict)}" if trace else "",
        "anchor": run_anchor(verdict),
    }


def _failure(failure: Failure, result: RunResult, links: Links) -> dict[str, Any]:
    name = failure.lead.verdict.subject.property_id
    trace = failure.lead.verdict.counterexample
    return _shown(failure.lead, result) | {
        "text": trace_text(trace) if trace else "",  # where a phone has no room for the picture
        "kind": KINDS.get(result.kinds.get(name, ""), ""),
        "words": result.descriptions.get(name, ""),
        "link": links.source(name),
        "place": result.places.get(name, ""),
        "snippet": links.snippet(name),
        "others": [_shown(one, result) | {"svg": "", "data": None} for one in failure.others],
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
