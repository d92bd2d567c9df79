"""What is not as expected, in SARIF 2.1.0: code review tools show it at the line of the claim."""

from __future__ import annotations

from typing import Any

import pydantic_core

from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.exit_codes import ExitCode
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
