"""The command ``evidence``."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.checks.report.console import wide_console
from tidemark.checks.verdicts.commands import BUILD, EVIDENCE_BUILD
from tidemark.checks.verdicts.errors import BadInputError, missing_package


def observe(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario; by default they are listed.")] = "",
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn at random.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs, with consecutive seeds.")] = 1,
    server: Annotated[str, typer.Option(help="A version that `make milvus` has fetched.")] = "2.3.5",
    lease: Annotated[int, typer.Option(min=1, help="Seconds a session lives without its process.")] = 30,
    out: Annotated[Path, typer.Option(help="Folder for the evidence, a folder each run.")] = BUILD
    / "observe",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the server's data there too.")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Only collect, do not judge.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Run nothing: judge all runs in --out anew, and show a table.")
    ] = False,
) -> int:
    """Start a real server, break it, and judge what it leaves behind."""
    from tidemark.checks.observe import command

    if table:
        if scenario:
            raise BadInputError("a scenario with --table", remedy="--table judges all runs in --out")
        from tidemark.checks.observe.judged import overview

        return overview(out, console=wide_console()).value
    options = command.Options(
        seed=seed, runs=runs, version=server, lease=lease, out=out, keep=keep, judge=not collect
    )
    return command.observe(scenario, options=options, console=wide_console())


TOPICS = "rootcoord-dml"


def _refuse(what: str, *, if_: bool, remedy: str) -> None:
    """An option that would have no effect is a mistake of the user."""
    if if_:
        raise BadInputError(what, remedy=remedy)


class _NoPandas:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """What the import of a module asks."""
        if name == "pandas":
            raise ImportError(name)


def _command(*, small: bool) -> Any:
    try:
        if small:
            _spare_pandas()
        return import_module("tidemark.checks.evidence.command")
    except ModuleNotFoundError as error:
        raise missing_package("evidence", error) from error


def _spare_pandas() -> None:
    """Let Arrow do without pandas, which it loads at its first array: half a second, and of no use here."""
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            import_module("pyarrow").array([0])
        finally:
            sys.meta_path.remove(_NoPandas)


def evidence(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Log files, or folders with logs, store, broker, histories.")
    ] = None,
    *,
    claims: Annotated[
        bool, typer.Option("--claims", help="Only list which claims evidence can judge, and by what.")
    ] = False,
    understood: Annotated[
        bool, typer.Option("--understood", help="Only say which lines have a rule, and what claims lack.")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Go on while the files grow; the same command continues later."),
    ] = False,
    seconds: Annotated[float | None, typer.Option(min=1, help="End --follow after this time.")] = None,
    spark: Annotated[
        bool | None, typer.Option("--spark/--plain", help="Where to read; by default depends on the size.")
    ] = None,
    etcd: Annotated[
        str, typer.Option(help="Gateway of a live etcd, as http://127.0.0.1:2379: its history is judged too.")
    ] = "",
    kafka: Annotated[
        str, typer.Option(help="A live Kafka broker, as 127.0.0.1:9092: its messages are judged too.")
    ] = "",
    topics: Annotated[str, typer.Option(help="Part of the names of the topics that --kafka reads.")] = TOPICS,
    arrange: Annotated[
        Path | None,
        typer.Option(
            help="Also write the event table to this folder, partitioned by component, channel, key."
        ),
    ] = None,
    instance: Annotated[str, typer.Option(help="Instance of runs in ITF that do not name theirs.")] = "",
    master: Annotated[str, typer.Option(help="Spark master, for example spark://host:7077.")] = "local[*]",
    build: Annotated[Path, typer.Option(help="Folder for the files of the run.")] = EVIDENCE_BUILD,
    manifest: Annotated[
        list[Path] | None, typer.Option("--manifest", help="Manifest with the instance; may be repeated.")
    ] = None,
) -> int:
    """Judge logs, store, broker, histories, traces of a real system."""
    _refuse(
        "a path with --claims", if_=claims and bool(paths), remedy="--claims lists all claims, of no evidence"
    )
    _refuse("--seconds without --follow", if_=seconds is not None and not follow, remedy="add --follow")
    _refuse("--topics without --kafka", if_=topics != TOPICS and not kafka, remedy="add --kafka HOST:PORT")
    command = _command(small=not (spark or arrange or follow))
    screen = wide_console()
    if claims:
        listed: int = command.show_claims(screen)
        return listed
    if etcd:
        paths = [*(paths or ()), command.save_store(etcd, build=build)]
    if kafka:
        paths = [*(paths or ()), command.save_topics(kafka, build=build, topics=topics)]
    if not paths:
        raise BadInputError("no path is given", remedy="name log files, or folders with evidence")
    options = command.Options(
        build=build,
        spark=True if arrange else spark,
        master=master,
        instance=instance,
        manifests=tuple(manifest or ()),
        arrange=arrange,
    )
    if follow and not understood:
        status: int = command.follow_evidence(paths, options=options, seconds=seconds, console=screen)
    else:
        show = command.show_understood if understood else command.evidence
        status = show(paths, options=options, console=screen)
    return status
