"""The commands around the distributed search: ``distribute``, ``history``, ``package``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tidemark.checks.cli.options import named
from tidemark.checks.cli.run import gate
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.spark.judge import JUDGE
from tidemark.checks.spark.package_code import code_zip, environment_archive, launcher
from tidemark.checks.spark.planning.history import FOLDER, RUNS, query
from tidemark.checks.spark.search.breadth_first import RoundLimits
from tidemark.checks.spark.session import spark_session
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode


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
