"""The evidence of a run, judged and compared with what is expected of that scenario on that version."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tidemark.checks.evidence.command import Options, finish, read_and_judge, say_files
from tidemark.checks.evidence.judge import verdicts
from tidemark.checks.observe.expected import Case, choose, due, unjudged
from tidemark.checks.observe.stage import read_record
from tidemark.checks.report.console import show_result
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe
from tidemark.checks.verdicts.verdict import Outcome, Verdict


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What came out: the names ``PROPERTY/MONITOR`` that are refuted, and the exit status."""

    refuted: tuple[str, ...]
    status: ExitCode


def judge_run(folder: Path, *, cases: Sequence[Case], build: Path, console: Console) -> Judged:
    """Judge the evidence in ``folder`` and show the verdicts.

    Args:
        folder: what a run left.
        cases: the expectations of its scenario on its version.
        build: for the verdicts and the report.
        console: for the table.

    Returns:
        The status is that of ``tidemark evidence``, or MISSING_REFUTATION if something that has to be
        refuted was not judged at all.
    """
    begun = time.perf_counter()
    options = Options(build=build)
    replay = options.command([folder])
    read, found = read_and_judge([folder], options)
    say_files(read, found, console)
    first = verdicts(found, instance=folder.name, replay=replay)
    case = choose(cases, read_record(folder)["facts"])
    refuted = tuple(name_of(each) for each in first if each.outcome is Outcome.REFUTED)
    wanted = due(case, refuted)
    finished = finish(
        read, found, replay=replay, options=options, begun=begun, name=folder.name,
        expected=dict.fromkeys(wanted, Outcome.REFUTED),
    )  # fmt: skip
    show_result(finished.result, console, build=build, files=finished.files)
    missing = unjudged(case, [name_of(each) for each in first])
    for name in missing:
        console.print(Text(f"NOT JUDGED {name}, which has to be refuted: {case.why}"), soft_wrap=True)
    if wanted:
        console.print(Text(f"expected on Milvus {case.server}: {' '.join(case.why.split())}"), soft_wrap=True)
    status = finished.result.exit_code
    if missing:
        status = most_severe([status, ExitCode.MISSING_REFUTATION])
    return Judged(refuted=refuted, status=status)


def name_of(verdict: Verdict) -> str:
    """``PROPERTY/MONITOR`` as the expectations name it."""
    return f"{verdict.subject.property_id}/{verdict.subject.instance.rpartition(':')[2]}"
