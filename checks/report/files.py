"""The files of a run: ``verdicts.json``, ``junit.xml``, ``verdicts.sarif``, counterexample bundles, and
``report/index.html``.

What is compared between runs (everything but ``measured``) is free of times, absolute paths and set order.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pydantic_core

from tidemark.checks.report.forms.bundle import FOLDER, bundle_id, headline, write_bundles
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode
from tidemark.checks.verdicts.result import RunResult, Unjudged
from tidemark.checks.verdicts.verdict import Judgement

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(result: RunResult) -> str:
    """The failures of a run as SARIF: an empty list if there are none, and whether the run was finished."""
    failures = result.failures
    claims = sorted(
        {one.verdict.subject.property_id for one in failures} | {one.task for one in result.unjudged}
    )
    rules = [
        {"id": claim, "shortDescription": {"text": result.descriptions.get(claim, claim)}} for claim in claims
    ]
    found = [_failure(one, result) for one in failures] + [_unjudged(one) for one in result.unjudged]
    finished = not result.stopped and result.done == result.planned
    run = {
        "tool": {"driver": {"name": "Tidemark", "rules": rules}},
        "invocations": [{"executionSuccessful": finished, "exitCode": result.exit_code.value}],
        "results": found,
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return pydantic_core.to_json(document, indent=1).decode() + "\n"


def _failure(one: Judgement, result: RunResult) -> dict[str, Any]:
    subject = one.verdict.subject
    lines = [f"expected {one.expected.value}: {headline(one.verdict)}", f"replay: {one.replay}"]
    if one.verdict.counterexample is not None:
        lines.insert(1, trace_text(one.verdict.counterexample))
    level = "warning" if one.exit_code is ExitCode.INCONCLUSIVE else "error"
    shown: dict[str, Any] = {
        "ruleId": subject.property_id,
        "level": level,
        "message": {"text": "\n".join(lines)},
    }
    path, _, line = result.places.get(subject.property_id, "").rpartition(":")
    if path:
        place = {"artifactLocation": {"uri": path}, "region": {"startLine": int(line)}}
        shown["locations"] = [{"physicalLocation": place}]
    return shown


def _unjudged(one: Unjudged) -> dict[str, Any]:
    text = f"not judged: {one.message}\nremedy: {one.remedy}\nreplay: {one.replay}"
    return {"ruleId": one.task, "level": "error", "message": {"text": text}}


VERDICTS = "verdicts.json"
JUNIT = "junit.xml"
SARIF = "verdicts.sarif"
PAGE = Path("report") / "index.html"


FORMS = ("checks/report/forms", "checks/verdicts")
"""Folders with all code that a bundle's texts depend on: what it is made of is the verdict."""


def write_files(
    result: RunResult,
    *,
    build: Path,
    pictures: Sequence[tuple[str, str]] = (),
    graphs: Sequence[tuple[str, str]] = (),
    forms: str = "",
) -> list[Path]:
    """Write every file of a finished (or stopped) run and return their paths.

    ``pictures`` and ``graphs`` are titles and SVG texts that the page shows below the table. The journal is
    removed if the run was not stopped: then ``verdicts.json`` has all of it. ``forms`` is a digest of the
    code of ``FORMS``: with it, bundles that are there already are left as they are.
    """
    write_bundles(result, build=build, forms=forms)
    written = [
        _replace(build / VERDICTS, to_json(result)),
        _replace(build / JUNIT, to_junit(result)),
        _replace(build / SARIF, to_sarif(result)),
        _write_pages(result, build=build, pictures=pictures, graphs=graphs),
    ]
    if not result.stopped:
        (build / PARTIAL).unlink(missing_ok=True)
    return written


def _write_pages(
    result: RunResult,
    *,
    build: Path,
    pictures: Sequence[tuple[str, str]],
    graphs: Sequence[tuple[str, str]],
) -> Path:
    """Write the pages, but for those that have the key of their text already. Returns the index."""
    from tidemark.checks.report.html import pages

    folder = (build / PAGE).parent
    names = set()
    for one in pages(result, pictures=pictures, graphs=graphs, here=folder):
        names.add(one.name)
        mark = f"<!-- {one.key} -->"
        if not (one.key and _begins_with(folder / one.name, mark)):
            _replace(folder / one.name, f"{mark}\n{one.text()}" if one.key else one.text())
    for old in folder.glob("runs-*.html"):
        if old.name not in names:
            old.unlink()
    return build / PAGE


def _begins_with(path: Path, mark: str) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().rstrip() == mark
    except OSError:
        return False


def _replace(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
    return path


def to_json(result: RunResult) -> str:
    """The result as JSON text."""
    document = {
        "format": 1,
        "tier": result.tier,
        "seed": result.seed,
        "exit_code": result.exit_code.value,
        "meaning": MEANING[result.exit_code],
        "summary": result.summary(),
        "stopped": result.stopped,
        "checks": {"planned": result.planned, "done": result.done},
        "judgements": [_judgement(judgement) for judgement in result.judgements],
        "unjudged": [unjudged.model_dump(mode="json") for unjudged in result.unjudged],
        "descriptions": dict(sorted(result.descriptions.items())),
        "kinds": dict(sorted(result.kinds.items())),
        "frames": list(result.frames),
        "sources": {name: note.model_dump(mode="json") for name, note in sorted(result.sources.items())},
        "places": dict(sorted(result.places.items())),
        "measured": {
            "seconds": round(result.seconds, 3),
            "processor_seconds": round(result.processor_seconds, 3),
            "tasks": {name: round(seconds, 3) for name, seconds in result.task_seconds.items()},
            "taken_over": result.taken_over,
            "remarks": list(result.remarks),
            "verdicts": {
                j.verdict.subject.text(): {"seconds": round(j.verdict.seconds, 3), **j.verdict.rates}
                for j in result.judgements
            },
        },
    }
    return pydantic_core.to_json(document, indent=1).decode() + "\n"


def _judgement(judgement: Judgement) -> dict[str, Any]:
    verdict = judgement.verdict
    shown: dict[str, Any] = {
        **dict(verdict.subject),
        "outcome": verdict.outcome.value,
        "expected": judgement.expected.value,
        "ok": judgement.ok,
        "exit_code": judgement.exit_code.value,
        "counts": dict(sorted(verdict.counts.items())),
        "bounds": verdict.bounds,
        "reason": verdict.reason,
        "notes": list(verdict.notes),
        "replay": judgement.replay,
    }
    if verdict.counterexample is not None:
        shown["counterexample"] = verdict.counterexample
        shown["bundle"] = f"{FOLDER}/{bundle_id(verdict)}"
    return shown


def read_result(path: Path) -> RunResult:
    """Read a verdicts file back. Raises OSError or ValueError if there is none, or it is not one."""
    document = json.loads(path.read_text(encoding="utf-8"))
    measured = document["measured"]
    found: list[dict[str, Any]] = []
    for item in document["judgements"]:
        subject = {key: item[key] for key in ("protocol", "property_id", "judge", "instance", "aspect")}
        name = f"{subject['judge']} {subject['instance']} {subject['property_id']}"
        rates = dict(measured["verdicts"].get(name, {}))
        kept = {k: item[k] for k in ("outcome", "counts", "bounds", "reason", "notes", "replay")}
        verdict = kept | {
            "subject": subject,
            "counterexample": item.get("counterexample"),
            "seconds": rates.pop("seconds", 0.0),
            "rates": rates,
        }
        taken = measured.get("taken_over", {}).get(f"{subject['judge']}/{subject['instance']}", "")
        found.append({"verdict": verdict, "expected": item["expected"], "taken_over": taken})
    return RunResult.model_validate(
        {
            "tier": document["tier"],
            "seed": document["seed"],
            "judgements": found,
            "unjudged": document["unjudged"],
            "planned": document["checks"]["planned"],
            "done": document["checks"]["done"],
            "stopped": document["stopped"],
            "descriptions": document["descriptions"],
            "kinds": document.get("kinds", {}),
            "frames": document.get("frames", ()),
            "sources": document["sources"],
            "places": document.get("places", {}),
            "remarks": measured.get("remarks", ()),
            "seconds": measured["seconds"],
            "processor_seconds": measured["processor_seconds"],
            "task_seconds": measured["tasks"],
        }
    )


def to_junit(result: RunResult) -> str:
    """The result as JUnit XML: a suite per judge, a case per judgement."""
    root = ET.Element("testsuites", name="tidemark", time=f"{result.seconds:.3f}")
    for name in dict.fromkeys(j.verdict.subject.judge for j in result.judgements):
        group = [j for j in result.judgements if j.verdict.subject.judge == name]
        wrong = [j for j in group if not j.ok]
        unsure = [j for j in wrong if j.exit_code is ExitCode.INCONCLUSIVE]
        seconds = sum(j.verdict.seconds for j in group)
        suite = ET.SubElement(
            root,
            "testsuite",
            name=name,
            tests=str(len(group)),
            failures=str(len(wrong) - len(unsure)),
            errors=str(len(unsure)),
            time=f"{seconds:.3f}",
        )
        for judgement in group:
            _case(suite, judgement, result.source_lines(judgement.verdict.subject))
    if result.unjudged or result.stopped:
        _unjudged_suite(root, result)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, judgement: Judgement, sources: Sequence[str]) -> None:
    verdict = judgement.verdict
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"{verdict.subject.protocol}.{verdict.subject.instance}",
        name=verdict.subject.property_id,
        time=f"{verdict.seconds:.3f}",
    )
    if judgement.taken_over:
        known = ET.SubElement(case, "properties")
        ET.SubElement(known, "property", name="taken over from", value=judgement.taken_over)
    if judgement.ok:
        return
    kind = "error" if judgement.exit_code is ExitCode.INCONCLUSIVE else "failure"
    message = f"expected {judgement.expected.value}; {headline(verdict)}"
    problem = ET.SubElement(case, kind, message=message, type=judgement.exit_code.name)
    body = [message, f"replay: {judgement.replay}"]
    if verdict.counterexample is not None:
        body.insert(1, trace_text(verdict.counterexample, sources=sources))
    problem.text = "\n".join(body)


def _unjudged_suite(root: ET.Element, result: RunResult) -> None:
    errors = len(result.unjudged) + result.stopped
    suite = ET.SubElement(root, "testsuite", name="gate", tests=str(errors), failures="0", errors=str(errors))
    for unjudged in result.unjudged:
        case = ET.SubElement(suite, "testcase", classname="gate", name=unjudged.task)
        problem = ET.SubElement(case, "error", message=unjudged.message, type=unjudged.exit_code.name)
        problem.text = f"{unjudged.message}\nremedy: {unjudged.remedy}\nreplay: {unjudged.replay}"
    if result.stopped:
        case = ET.SubElement(suite, "testcase", classname="gate", name="the whole run")
        ET.SubElement(case, "error", message=result.summary(), type=ExitCode.STOPPED.name)
