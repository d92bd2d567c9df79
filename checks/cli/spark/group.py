"""``tidemark spark``: searches that outgrow a core, their history, and what a cluster gets."""

from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.options import Build, ManifestOption, Master, Only, Seed, hand_to
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
    manifests: ManifestOption = None,
) -> int:
    """The same search on Spark: round after round, each one a checkpoint."""
    return hand_to("tidemark.checks.cli.spark.many:distribute", locals())


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
    return hand_to("tidemark.checks.cli.spark.many:history", locals())


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
    return hand_to("tidemark.checks.cli.spark.many:package", locals())


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
    manifests: ManifestOption = None,
) -> int:
    """Search an instance with other bounds and constants, each in a Spark task: one table."""
    return hand_to("tidemark.checks.cli.spark.many:sweep_command", locals())


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
    manifests: ManifestOption = None,
) -> int:
    """Walk at random through an instance, in many Spark tasks: it can only refute."""
    return hand_to("tidemark.checks.cli.spark.many:swarm_command", locals())


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
    return hand_to("tidemark.checks.cli.spark.many:size_command", locals())
