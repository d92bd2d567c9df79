"""The commands ``sweep``, ``swarm`` (searches and random walks as Spark tasks), ``size``."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tidemark.checks.cli.options import named
from tidemark.checks.cli.run import gate
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.inputs.manifests import chosen_instance
from tidemark.checks.report.console import wide_console
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.spark.judge import JUDGE
from tidemark.checks.spark.package_code import code_zip
from tidemark.checks.spark.planning.history import FOLDER, RUNS, query
from tidemark.checks.spark.planning.sizing import Measured, Sizing, measured, rounds_of, size
from tidemark.checks.spark.search.breadth_first import RoundLimits
from tidemark.checks.spark.session import spark_session
from tidemark.checks.spark.shapes import Searched, grid, swarm, sweep
from tidemark.checks.spark.submission import environment_archive, launcher
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.native.simulate import Budget


def distribute(
    settings: Settings,
    *,
    only: str,
    resume: bool,
    from_round: int | None,
    partitions: int | None,
    directory: Path | None,
    handover: int | None,
) -> int:
    """``tidemark spark distribute``; see ``tidemark.checks.spark.judge.Judge``. Raises BadInputError."""
    if from_round is not None and from_round < 0:
        raise BadInputError(f"there is no round {from_round}", remedy="the first round is 0")
    if (directory is not None or from_round is not None) and not only:
        raise BadInputError("one directory, or one round, for several searches", remedy="name one instance")
    judge = replace(
        JUDGE,
        resume=resume if from_round is None else from_round,
        partitions=partitions,
        directory=directory,
        limits=None if handover is None else RoundLimits(handover=handover),
    )
    judges = {**registry(), judge.name: judge}
    return gate(settings, only=named(only), judge=judge.name, judges=judges)


def history(sql: str, *, master: str, build: Path) -> int:
    """``tidemark spark history``: print the answer to a query over the rounds of all searches so far."""
    frame = query(spark_session(master=master, build=build), build / FOLDER, sql or RUNS)
    table = Table(*frame.columns, box=None)
    for row in frame.collect():
        table.add_row(*(_text(value) for value in row))
    Console(width=None if Console().is_terminal else 160).print(table)
    return ExitCode.AS_EXPECTED.value


def package(*, out: Path, environment: bool) -> int:
    """``tidemark spark package``: write what spark-submit sends to a cluster, and print the command."""
    code, script = code_zip(folder=out), launcher(folder=out)
    options = [f"--py-files {code}"]
    if environment:
        archive = environment_archive(folder=out)
        options += [f"--archives {archive}#environment", "--conf spark.executorEnv.PYTHONPATH=environment"]
    options.append(f"{script} spark distribute INSTANCE --manifest FILE --directory SHARED_FOLDER")
    print("spark-submit --master MASTER \\")
    print(" \\\n".join(f"  {option}" for option in options))
    return ExitCode.AS_EXPECTED.value


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def axis(text: str) -> tuple[str, list[Any]]:
    """``NAME=1..4`` or ``NAME=1,2,4`` (values in JSON). Raises BadInputError."""
    name, _, values = text.partition("=")
    low, dots, high = values.partition("..")
    try:
        found = list(range(int(low), int(high) + 1)) if dots else json.loads(f"[{values}]")
    except ValueError as error:
        raise BadInputError(f"the axis {text!r}", remedy="write NAME=1..4 or NAME=1,2,4") from error
    if not found:
        raise BadInputError(f"the axis {text!r} has no values", remedy="write NAME=1..4 or NAME=1,2,4")
    return name, found


def sweep_command(
    instance: str, *, over: Sequence[str], states: int, master: str, build: Path, manifests: Sequence[Path]
) -> int:
    """``tidemark spark sweep``: one line for each combination. What was not searched is not judged."""
    instances = grid(chosen_instance(instance, manifests=manifests, say=print), dict(map(axis, over)))
    found = sweep(spark_session(master=master, build=build), instances, states=states)
    show(found, wide_console())
    if any(row.broken for row in found):
        return ExitCode.UNEXPECTED_REFUTATION.value
    return (ExitCode.INCONCLUSIVE if any(row.why for row in found) else ExitCode.AS_EXPECTED).value


def show(found: Sequence[Searched], screen: Console) -> None:
    """The table of a sweep."""
    table = Table(
        "setting", "distinct", "generated", "depth", "out of bounds", "deadlocks", "s", "result", box=None
    )
    for row in found:
        numbers = (row.distinct, row.generated, row.depth, row.out_of_bounds, row.deadlocks)
        result = "; ".join(filter(None, (", ".join(f"{claim} fails" for claim in row.broken), row.why)))
        table.add_row(
            row.setting,
            *(f"{n:,}" for n in numbers),
            f"{row.seconds:.1f}",
            result or "holds within the bounds",
        )
    screen.print(table)


def swarm_command(
    instance: str,
    *,
    tasks: int,
    visits: int,
    depth: int,
    seed: int,
    master: str,
    build: Path,
    manifests: Sequence[Path],
) -> int:
    """``tidemark spark swarm``: like ``tidemark simulate``, with a seed for each task. Never green."""
    chosen = chosen_instance(instance, manifests=manifests, say=print)
    budget = Budget(visits=visits, depth=depth)
    found = swarm(spark_session(master=master, build=build), chosen, tasks=tasks, budget=budget, seed=seed)
    for verdict in found:
        print(f"{verdict.outcome.value:>13}  {verdict.subject.property_id}")
    refuted = [verdict for verdict in found if verdict.outcome is Outcome.REFUTED]
    for verdict in refuted:
        assert verdict.counterexample is not None
        print(f"\n{verdict.subject.property_id}: {'; '.join(verdict.notes)}")
        sources = claim_sources(verdict.subject.property_id, protocol=chosen.protocol)
        print(trace_text(verdict.counterexample, sources=sources))
        print(f"replay: {verdict.replay}")
    counts = found[0].counts if found else {}
    print(", ".join(f"{value:,} {what}" for what, value in counts.items()))
    return (ExitCode.UNEXPECTED_REFUTATION if refuted else ExitCode.INCONCLUSIVE).value


def size_command(
    instance: str, *, states: float, executors: int, cores: int, rounds: int | None, build: Path
) -> int:
    """``tidemark spark size``: print the plan for a larger search. Raises BadInputError."""
    found = measured(rounds_of(build / FOLDER, instance))
    print(
        "\n".join(
            plan_lines(
                found, size(found, states=int(states), executors=executors, cores=cores, rounds=rounds)
            )
        )
    )
    return ExitCode.AS_EXPECTED.value


def plan_lines(found: Measured, plan: Sizing) -> list[str]:
    """What was measured, what follows for memory, bytes, rounds and time, and Spark's settings."""
    gib = 2**30
    memory, cache = plan.memory_bytes / gib, plan.cache_bytes / gib
    work, waiting = plan.compute_seconds / 60, plan.latency_seconds / 60
    sent, most = plan.sent_bytes / gib, plan.round_bytes / gib
    on_spark = f"{found.rounds} rounds ({found.on_spark} on Spark)"
    lines = [
        f"measured: {found.instance}, {found.distinct:,} states of {8 * found.words} bytes, {on_spark}",
        f"  with             {found.master}, {found.cores} cores",
        f"  a round          {found.latency:.2f} s",
        f"  a state          {found.core_seconds * 1e6:.2f} core-us, {found.sent_bytes:.0f} bytes sent",
        f"planned: {plan.states:,} states on {plan.executors} executors with {plan.cores} cores each",
        f"  partitions       {plan.partitions:,}",
        f"  rounds           {plan.rounds}",
        f"  an executor      {memory:,.1f} GiB for its tasks, {cache:,.1f} GiB of page cache for tables",
        f"  shared folder    {plan.log_bytes / gib:,.0f} GiB of level logs, twice that with merged runs",
        f"  shuffled         {sent:,.0f} GiB, {most:,.0f} GiB in the greatest round",
        f"  read again       {plan.read_bytes / gib:,.0f} GiB at most, if tasks never stay where they were",
        f"  time             {plan.seconds / 60:,.0f} min: {work:,.0f} of work, {waiting:,.0f} of latency",
    ]
    return [*lines, *(f"  --conf {key}={value}" for key, value in plan.settings.items())]
