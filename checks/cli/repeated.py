"""Options that are given twice although they have one value: the parser would keep the last one silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tidemark.checks.verdicts.errors import BadInputError


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
