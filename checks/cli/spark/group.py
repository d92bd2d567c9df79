"""``tidemark spark``: searches that outgrow a core, their history, and what a cluster gets."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.options import Build, ManifestOption, Master, Only, Seed, settings_of
from tidemark.checks.verdicts.commands import BUILD, LOCAL

group = typer.Typer(
    name="spark",
    help="Searches: distribute, sweep, swarm; history, size, package.",
    no_args_is_help=True,
)


@group.command()
def distribute(
    only: Only = "",
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue after the last complete round of a stopped search.")
    ] = False,
    from_round: Annotated[
        int | None, typer.Option("--from-round", help="Continue after this round; later ones are discarded.")
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Owners of states; by default as many as cores.")
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(help="Folder for the rounds, shared by driver and executors; it is kept."),
    ] = None,
    handover: Annotated[
        int | None, typer.Option(min=0, help="Frontier from which Spark does a round instead of the driver.")
    ] = None,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifest: ManifestOption = None,
) -> int:
    """The same search on Spark: round after round, each one a checkpoint."""
    command = import_module("tidemark.checks.cli.spark.many")
    settings = settings_of(seed=seed, master=master, build=build, manifest=manifest)
    status: int = command.distribute(
        settings,
        only=only,
        resume=resume,
        from_round=from_round,
        partitions=partitions,
        directory=directory,
        handover=handover,
    )
    return status


@group.command()
def history(
    sql: Annotated[
        str, typer.Argument(help="Spark SQL over the table 'rounds'; by default one line for each run.")
    ] = "",
    *,
    master: Master = LOCAL,
    build: Build = BUILD,
) -> int:
    """Show past searches on Spark: counts, seconds and bytes by round."""
    status: int = import_module("tidemark.checks.cli.spark.many").history(sql, master=master, build=build)
    return status


@group.command()
def package(
    *,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = BUILD / "package",
    environment: Annotated[
        bool,
        typer.Option("--environment", help="Also the packages of this Python, for executors."),
    ] = False,
) -> int:
    """Write the files that spark-submit sends to a cluster, and print its command."""
    status: int = import_module("tidemark.checks.cli.spark.many").package(out=out, environment=environment)
    return status


@group.command()
def sweep(
    instance: Annotated[str, typer.Argument(help="Name of a manifest instance.")],
    *,
    over: Annotated[
        list[str], typer.Option("--over", help="NAME=1..4 or NAME=1,2,4 of a bound or a constant; repeated.")
    ],
    states: Annotated[int, typer.Option(min=1, help="Stop a search at so many states.")] = 10_000_000,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifest: ManifestOption = None,
) -> int:
    """Search an instance with other bounds and constants, each in a Spark task: one table."""
    command = import_module("tidemark.checks.cli.spark.many")
    status: int = command.sweep_command(
        instance, over=over, states=states, master=master, build=build, manifests=manifest or ()
    )
    return status


@group.command()
def swarm(
    instance: Annotated[str, typer.Argument(help="Name of a manifest instance.")],
    *,
    tasks: Annotated[int, typer.Option(min=1, help="Tasks, each with a seed of its own.")] = 16,
    visits: Annotated[int, typer.Option(min=1, help="States visited by one task.")] = 5_000_000,
    depth: Annotated[int, typer.Option(min=1, help="Steps of one walk at most.")] = 200,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifest: ManifestOption = None,
) -> int:
    """Walk at random through an instance, in many Spark tasks: it can only refute."""
    from tidemark.models.native.simulate import Budget

    command = import_module("tidemark.checks.cli.spark.many")
    status: int = command.swarm_command(
        instance,
        tasks=tasks,
        budget=Budget(visits=visits, depth=depth),
        seed=seed,
        master=master,
        build=build,
        manifests=manifest or (),
    )
    return status


@group.command()
def size(
    instance: Annotated[str, typer.Argument(help="Instance that was searched on Spark, here.")],
    *,
    states: Annotated[float, typer.Option(min=1, help="Expected number of states, for example 1e10.")],
    executors: Annotated[int, typer.Option(min=1, help="Executors of the cluster.")],
    cores: Annotated[int, typer.Option(min=1, help="Cores of an executor.")] = 8,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Expected depth; by default that of the search here.")
    ] = None,
    build: Build = BUILD,
) -> int:
    """Plan a larger search on a cluster from the history of a smaller one: memory, bytes, rounds, time."""
    command = import_module("tidemark.checks.cli.spark.many")
    status: int = command.size_command(
        instance, states=states, executors=executors, cores=cores, rounds=rounds, build=build
    )
    return status
