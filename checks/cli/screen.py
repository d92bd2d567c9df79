"""The help of the whole command line: one line for each command, so that it fits on one screen."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import Any

from typer.core import TyperGroup

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
