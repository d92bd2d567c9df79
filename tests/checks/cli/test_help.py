"""The help of each command: nothing of a text is taken for markup, and each option has a text."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from rich.markup import render

from tidemark.checks.cli.app import application


def commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command below a group, with its words."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, one in below.items():
        if not one.hidden:
            yield from commands(one, f"{path} {name}".strip())


ALL = dict(commands(typer.main.get_command(application)))


def lost(text: str) -> bool:
    """Whether a part of a text vanishes when Rich shows it."""
    return render(text).plain != text.replace("\\[", "[")


def test_markup_is_seen():
    assert lost("those of [tool.tidemark] in pyproject.toml")
    assert not lost("those of \\[tool.tidemark] in pyproject.toml")


@pytest.mark.parametrize("name", ALL)
def test_nothing_of_a_help_vanishes(name):
    command = ALL[name]
    texts = [command.help or "", *(param.help or "" for param in command.params)]
    assert [text for text in texts if lost(text)] == []
    assert [param.name for param in command.params if not param.help] == []
