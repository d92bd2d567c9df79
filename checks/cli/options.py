"""Options that several commands have, and the settings that they make."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.checks.gate.settings import Settings
from tidemark.models.cores import cores
from tidemark.models.manifest import SUITE, Tier

MOST = 512
"""Threads or processes, at most: more than a machine has cores only costs memory."""

PROOF_S = 20.0
"""Limit of one query of a proof that no manifest has, in seconds."""

Only = Annotated[
    str, typer.Argument(help="Name (or a part, or a pattern with *) of manifest entries; by default all.")
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only", help="Checks JUDGE/ENTRY: a part of the name, or a pattern with *; may be repeated."
    ),
]
TierOption = Annotated[Tier, typer.Option(help="fast: before every push; full: the large searches too.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")]
Master = Annotated[str, typer.Option(help="Spark master, for example spark://host:7077.")]
Build = Annotated[Path, typer.Option(help="Folder for the files of the run.")]
ManifestOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--manifest",
        help="Manifest file, may be repeated; by default those of \\[tool.tidemark] in pyproject.toml; "
        f"{SUITE}: Tidemark's own.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue a stopped run, if nothing has changed since.")
]
Json = Annotated[
    bool, typer.Option("--json", help="The verdicts as JSON on the standard output, all else on the other.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, max=MOST, help="Processes that judge; by default all cores; no other result."
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Judge everything again; by default unchanged checks keep their verdicts."),
]
Audit = Annotated[int, typer.Option(min=0, help="Judge so many of the unchanged checks again, and compare.")]
Once = Annotated[
    bool, typer.Option("--once", help="Judge what has changed since it was judged last, and end.")
]

WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())
"""The command line that is being run, without the program: a printed command repeats it."""


def named(only: str) -> tuple[str, ...]:
    """The pattern that an argument gives, if it gives one."""
    return (only,) if only else ()


def settings_of(
    *, manifest: list[Path] | None, tier: Tier = Tier.FULL, jobs: int | None = 1, **options: Any
) -> Settings:
    """The settings of the command line that is being run. ``jobs`` None: all cores."""
    return Settings(
        tier=tier.value,
        manifests=tuple(manifest or ()),
        words=WORDS.get(),
        jobs=cores() if jobs is None else jobs,
        **options,
    )
