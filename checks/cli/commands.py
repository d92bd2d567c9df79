"""The commands of ``tidemark``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.checks.cli.evidence import evidence, observe
from tidemark.checks.cli.export import export
from tidemark.checks.cli.options import (
    MOST,
    PROOF_S,
    Audit,
    Bounds,
    Build,
    Claims,
    Constants,
    Fresh,
    Jobs,
    Json,
    ManifestOption,
    Master,
    Once,
    OneScreen,
    Only,
    OnlyOption,
    Resume,
    Seed,
    TierOption,
    hand_to,
    named,
    refuse_for_entries,
)
from tidemark.checks.cli.pin import pin
from tidemark.checks.cli.show import group as show_group
from tidemark.checks.cli.spark.group import group as spark_group
from tidemark.checks.cli.tools import compare, doctor, mutants, replay, report
from tidemark.checks.verdicts.commands import BUILD, LOCAL
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import Tier

_ABOUT = "Proves and tests the clocks, watermarks and checkpoints of a log-structured database."
_EPILOG = "`tidemark COMMAND --help` lists the options, `tidemark show codes` the exit statuses."

_GATE = "The gate"
_JUDGE = "One way of judging"
_RUN = "Counterexamples, reports, other tools"
_REAL = "A real system"
_GROUPS = "Groups of commands"
_MACHINE = "This machine"

application = typer.Typer(
    cls=OneScreen,
    help=_ABOUT,
    epilog=_EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:  # noqa: FBT001  Typer's form
    if wanted:
        from importlib import metadata

        print(f"tidemark {metadata.version('tidemark')}")
        raise typer.Exit


@application.callback()
def _options(
    *,
    _wanted: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end."),
    ] = False,
) -> None:
    pass  # its docstring would replace the help of the whole


def _run(given: Mapping[str, Any], **more: Any) -> int:
    """Judge what was given; ``more`` is what the words mean for the gate."""
    return hand_to("tidemark.checks.cli.run:gate", {**given, **more})


@application.command(rich_help_panel=_GATE)
def verify(
    *,
    tier: TierOption = Tier.FAST,
    only: OnlyOption = None,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifests: ManifestOption = None,
    jobs: Jobs = None,
    resume: Resume = False,
    fresh: Fresh = False,
    audit: Audit = 0,
    json: Json = False,
) -> int:
    """Run every check of the manifest: the gate."""
    from tidemark.checks.cache.kept import Use

    if fresh and audit:
        raise BadInputError("--audit with --fresh", remedy="--fresh judges everything already")
    return _run(locals(), only=only or (), use=Use(read=not fresh, audit=audit))


@application.command(rich_help_panel=_GATE)
def watch(
    *,
    tier: TierOption = Tier.FAST,
    only: OnlyOption = None,
    seed: Seed = 0,
    build: Build = BUILD,
    manifests: ManifestOption = None,
    once: Once = False,
) -> int:
    """On each save, judge what the change touches, shortest first."""
    given = {**locals(), "only": only or ()}
    return hand_to(f"tidemark.checks.cli.watch:{'once' if once else 'forever'}", given)


def _one_judge(name: str, about: str) -> None:
    def command(
        only: Only = "",
        *,
        seed: Seed = 0,
        master: Master = LOCAL,
        build: Build = BUILD,
        manifests: ManifestOption = None,
        jobs: Jobs = None,
        resume: Resume = False,
        json: Json = False,
    ) -> int:
        return _run(locals(), only=named(only), judge=name)

    command.__doc__ = about
    application.command(name=name, rich_help_panel=_JUDGE)(command)


_Seconds = Annotated[
    float | None,
    typer.Option(
        min=0.1, help="Limit of one query of the solver, in seconds; by default the manifest's, or 20."
    ),
]
_Protocol = Annotated[str, typer.Argument(help="module:Class, or the name of a proof of the manifest.")]
_Without = Annotated[
    list[str] | None, typer.Option("--without", help="Leave out this lemma; may be repeated.")
]


@application.command(rich_help_panel=_JUDGE)
def prove(
    only: Only = "",
    *,
    bmc: Annotated[
        int | None, typer.Option(min=1, help="Only runs of at most so many steps, of any size.")
    ] = None,
    k_induction: Annotated[
        int | None, typer.Option("--k-induction", min=2, help="Induction over so many steps.")
    ] = None,
    claims: Claims = None,
    constants: Constants = None,
    seconds: _Seconds = None,
    spark: Annotated[bool, typer.Option("--spark", help="Obligations as tasks of Spark.")] = False,
    master: Master = LOCAL,
    seed: Seed = 0,
    build: Build = BUILD,
    manifests: ManifestOption = None,
    jobs: Jobs = None,
    resume: Resume = False,
    json: Json = False,
) -> int:
    """Prove invariants for any size (Z3), by manifest or module:Class."""
    limit = seconds or PROOF_S
    if bmc is None and k_induction is None and not spark:
        if ":" in only:
            return hand_to("tidemark.checks.cli.ask:prove", {**locals(), "seconds": limit, "as_json": json})
        refuse_for_entries({"--claim": claims, "--set": constants})
        return _run({**locals(), "master": LOCAL}, only=named(only), judge="prove")
    refuse_for_entries({"--set": constants})
    if spark:
        if bmc is not None or k_induction is not None:
            raise BadInputError("--spark with --bmc or --k-induction", remedy="these run in one process")
        return hand_to("tidemark.checks.cli.prove:on_spark", {**locals(), "jobs": 1})
    return hand_to("tidemark.checks.cli.prove:several_steps", {**locals(), "seconds": limit})


@application.command(rich_help_panel=_JUDGE)
def suggest(
    protocol: _Protocol,
    *,
    redundant: Annotated[
        bool, typer.Option("--redundant", help="Name the lemmas that the proof does not need instead.")
    ] = False,
    implied: Annotated[
        bool, typer.Option("--implied", help="Name the claims that others imply in the same state instead.")
    ] = False,
    without: _Without = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="Limit of the search, in seconds.")] = 300.0,
    seed: Seed = 0,
    manifests: ManifestOption = None,
) -> int:
    """Suggest lemmas for a proof that fails, as methods to paste."""
    wanted = "redundant" if redundant else "implied" if implied else "suggest"
    return hand_to(f"tidemark.checks.cli.prove:{wanted}", locals())


@application.command(rich_help_panel=_JUDGE)
def explore(
    only: Only = "",
    *,
    claims: Claims = None,
    bounds: Bounds = None,
    constants: Constants = None,
    first: Annotated[
        bool | None,
        typer.Option(
            "--first/--all", help="End with the first refutation; by default if one claim is asked about."
        ),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="Time limit of a question.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="Threads of one search; by default chosen; no other result."),
    ] = None,
    memory: Annotated[
        float | None, typer.Option(min=0.001, help="Gigabytes at most; by default 60 % of the free memory.")
    ] = None,
    seed: Seed = 0,
    build: Build = BUILD,
    manifests: ManifestOption = None,
    jobs: Jobs = None,
    resume: Resume = False,
    json: Json = False,
) -> int:
    """Search bounded instances exhaustively; or answer a question.

    Instances of the manifest are judged by the compiled kernel. MODULE:CLASS, or an instance with --claim or
    --first, is a question: nothing is pinned, no file is written, and the exit status is that of the answer.
    """
    room = None if memory is None else int(memory * 1e9)
    if ":" in only or claims or bounds or constants or first is not None or seconds is not None:
        return hand_to("tidemark.checks.cli.ask:explore", {**locals(), "memory": room, "as_json": json})
    jobs = 1 if jobs is None and workers is not None else jobs
    return _run({**locals(), "memory": room}, only=named(only), judge="explore")


@application.command(rich_help_panel=_JUDGE)
def simulate(
    instance: Annotated[str, typer.Argument(help="Name of a manifest instance, or a protocol MODULE:CLASS.")],
    *,
    claims: Claims = None,
    bounds: Bounds = None,
    constants: Constants = None,
    first: Annotated[bool, typer.Option("--first", help="End with the first refutation.")] = False,
    visits: Annotated[int, typer.Option(min=1, help="States visited by all walks together.")] = 5_000_000,
    depth: Annotated[int, typer.Option(min=1, help="Steps of one walk at most.")] = 200,
    seconds: Annotated[float | None, typer.Option(help="Time limit.")] = None,
    seed: Seed = 0,
    manifests: ManifestOption = None,
) -> int:
    """Walk at random through a large instance: it can only refute."""
    return hand_to("tidemark.checks.cli.simulate:command", locals())


@application.command(name="diff", rich_help_panel=_JUDGE)
def difference(
    base: Annotated[str, typer.Argument(help="A protocol MODULE:CLASS.")],
    variant: Annotated[str, typer.Argument(help="Another one, with claims of the same names.")],
    *,
    claims: Claims = None,
    bounds: Bounds = None,
    constants: Constants = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit; bounds grow until then.")] = 30.0,
) -> int:
    """Which claims a variant changes, each with its shortest run."""
    return hand_to("tidemark.checks.cli.ask:diff", locals())


_one_judge("interpreted", "The same search by the interpreter, which defines the meaning.")
_one_judge("conform", "Drive implementation and interpreter side by side (Hypothesis).")
_one_judge("mutate", "Check that each property kills its mutants.")


@application.command(rich_help_panel=_JUDGE)
def interleave(
    only: Only = "",
    *,
    reduction: Annotated[
        str,
        typer.Option(help="none, sleep-sets, optimal or states; by default that of the manifest."),
    ] = "",
    spark: Annotated[bool, typer.Option("--spark", help="Subtrees as Spark tasks.")] = False,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifests: ManifestOption = None,
    jobs: Jobs = None,
    resume: Resume = False,
    json: Json = False,
) -> int:
    """Run the implementation in every bounded order of its steps."""
    if not reduction and not spark:
        return _run(locals(), only=named(only), judge="interleave")
    return hand_to("tidemark.checks.cli.interleave:search", locals())


application.command(rich_help_panel=_RUN)(replay)


@application.command(rich_help_panel=_RUN)
def step(
    name: Annotated[
        str, typer.Argument(help="Manifest instance, a protocol MODULE:CLASS, or a replay token run1....")
    ],
    *,
    bounds: Bounds = None,
    constants: Constants = None,
    manifests: ManifestOption = None,
) -> int:
    """Walk through an instance or a counterexample by hand.

    Commands come from the standard input.
    """
    return hand_to("tidemark.checks.step.command:step", locals())


application.command(rich_help_panel=_RUN)(export)


@application.command(name="cross-check", rich_help_panel=_RUN)
def cross_check(
    only: Only = "",
    *,
    tier: TierOption = Tier.FAST,
    states: Annotated[
        int, typer.Option(help="Leave out instances with more states than this; they are listed.")
    ] = 3_000_000,
    seconds: Annotated[
        float, typer.Option(help="Time-out of another tool's search of one instance.")
    ] = 600.0,
    build: Build = BUILD,
    manifests: ManifestOption = None,
) -> int:
    """Compare our searches with those of Spin and TLC."""
    return hand_to("tidemark.checks.cli.cross_check:cross_check", locals())


application.command(rich_help_panel=_GATE)(pin)


@application.command(rich_help_panel=_GATE)
def init(
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path(),
    *,
    name: Annotated[str, typer.Option(help="Name of the module, in small letters.")] = "lease",
    workflow: Annotated[
        bool, typer.Option("--workflow", help="Also a job for continuous integration (GitHub Actions).")
    ] = False,
) -> int:
    """Write a first protocol, its manifest and a test, which pass."""
    return hand_to("tidemark.checks.starter.write:begin", locals())


for _panel, _command in (
    (_REAL, observe), (_JUDGE, mutants), (_REAL, evidence),
    (_RUN, report), (_RUN, compare), (_MACHINE, doctor),
):  # fmt: skip
    application.command(rich_help_panel=_panel)(_command)

for _group in (show_group, spark_group):
    application.add_typer(_group, rich_help_panel=_GROUPS)
    for _former in _group.registered_commands:  # the name without the group, which was the only one once
        assert _former.callback is not None
        application.command(name=_former.name, hidden=True)(_former.callback)
