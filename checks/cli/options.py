"""Options that several commands have, and the settings that they make."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from importlib import import_module
from inspect import signature
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.cores import cores
from tidemark.models.manifest import SUITE, Tier

WIDTH = 80
"""Columns of a terminal that is not wide."""


class OneScreen(TyperGroup):
    """A group of commands whose help is plain text: a heading for each panel, a line for each command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help. The first paragraph of a command's help is its line."""
        shown = [command for name in self.list_commands(ctx) if not (command := self.commands[name]).hidden]
        panels = list(dict.fromkeys(_panel(command) for command in shown))
        shown.sort(key=lambda command: panels.index(_panel(command)))
        width = max(len(command.name or "") for command in shown)
        lines = [f"Usage: {ctx.command_path} COMMAND ...", *wrap(self.help or "", WIDTH)]
        for panel, commands in groupby(shown, key=_panel):
            lines.append(f"{panel}:")
            lines += [f"  {command.name:<{width}}  {_line(command)}" for command in commands]
        lines.append("Options: " + ", ".join(param.opts[-1] for param in self.get_params(ctx)))
        lines += wrap(self.epilog or "", WIDTH)
        formatter.write("\n".join(lines) + "\n")


def _panel(command: Any) -> str:
    return str(getattr(command, "rich_help_panel", "") or "Others")


def _line(command: Any) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def refuse_repeated(command: Any, words: Sequence[str]) -> None:
    """Raise BadInputError if the words give an option twice that takes one value.

    ``command``: Typer's, with the commands below it. A word that it does not know is the parser's to refuse.
    """
    rest = list(words)
    while rest and rest[0] in getattr(command, "commands", ()):
        command = command.commands[rest.pop(0)]
    if "--" in rest:
        rest = rest[: rest.index("--")]
    single = {
        option: param.opts[-1]
        for param in command.params
        if param.param_type_name == "option" and not (param.multiple or param.is_flag)
        for option in param.opts
    }
    given = Counter(single[name] for word in rest if (name := word.partition("=")[0]) in single)
    for option, times in given.items():
        if times > 1:
            raise BadInputError(f"{option} is given {times} times", remedy="it takes one value: give it once")


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
Bounds = Annotated[
    list[str] | None,
    typer.Option("--bound", help="Of a protocol: TYPE=N or TYPE=LOW..HIGH; by default small."),
]
Claims = Annotated[
    list[str] | None, typer.Option("--claim", help="Only this claim, by name or id; may be repeated.")
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--set", "--constant", help="Of a protocol: CONSTANT=VALUE, the value in JSON."),
]
Once = Annotated[
    bool, typer.Option("--once", help="Judge what has changed since it was judged last, and end.")
]

WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())
"""The command line that is being run, without the program: a printed command repeats it."""


def named(only: str) -> tuple[str, ...]:
    """The pattern that an argument gives, if it gives one. Raises BadInputError for a file."""
    if only.endswith((".py", ".toml")):
        stem = Path(only).stem
        remedy = f"write  {stem}:CLASS" if only.endswith(".py") else f"write  --manifest {only}"
        raise BadInputError(f"{only!r} is a file, and no entry of a manifest", remedy=remedy)
    return (only,) if only else ()


def refuse_for_entries(given: Mapping[str, object]) -> None:
    """Raise BadInputError if an option is given that is for a protocol, and not for entries of a manifest."""
    for option, value in given.items():
        if value:
            raise BadInputError(
                f"{option} is for a protocol, and no MODULE:CLASS is named",
                remedy=f"write  tidemark prove MODULE:CLASS {option} ...",
            )


def settings_of(
    *, manifests: Sequence[Path] | None, tier: Tier = Tier.FULL, jobs: int | None = 1, **options: Any
) -> Settings:
    """The settings of the command line that is being run. ``jobs`` None: all cores."""
    return Settings(
        tier=tier.value,
        manifests=tuple(manifests or ()),
        words=WORDS.get(),
        jobs=cores() if jobs is None else jobs,
        **options,
    )


_SEVERAL = {"bounds", "claims", "constants", "manifests", "without"}


def hand_to(target: str, given: Mapping[str, Any]) -> int:
    """Give what a command was given to the function that does its work, which is imported only now.

    Args:
        target: ``module:function``. It gets what it has parameters for; ``settings`` are made of the rest.
        given: options by name. One that may be repeated and was left out is ``()`` for the function.

    Returns:
        The exit status.
    """
    module, _, name = target.partition(":")
    command = import_module(module)
    function = getattr(command, name)
    wanted = signature(function).parameters
    chosen: dict[str, Any] = {
        key: () if value is None and key in _SEVERAL else value for key, value in given.items()
    }
    if "settings" in wanted:
        rest = chosen.keys() & Settings.__dataclass_fields__.keys() - wanted.keys()
        chosen["settings"] = settings_of(**{key: chosen[key] for key in rest})
    status: int = function(**{key: chosen[key] for key in chosen.keys() & wanted.keys()})
    return status
