"""Errors that end a run, each with its exit code. Messages name the offending value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.installed import extra_for, install_command


class CheckError(Exception):
    """Base of the errors that a user can cause or repair.

    ``remedy`` says what to do about it and is printed on a line of its own.
    """

    exit_code: ExitCode = ExitCode.INTERNAL_ERROR

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  remedy: {self.remedy}"


class BadInputError(CheckError):
    """A value that the user gave (option, manifest entry, bound, token) cannot be used."""

    exit_code = ExitCode.BAD_INPUT


class UnsoundCombinationError(CheckError):
    """Two ways of working that give wrong answers together; nothing was judged."""

    exit_code = ExitCode.BAD_INPUT


class MissingToolError(CheckError):
    """Something that a judge needs is not on this machine, or does not answer."""

    exit_code = ExitCode.MISSING_TOOL


def missing_package(what: str, error: ModuleNotFoundError) -> MissingToolError:
    """The error for something that cannot be loaded, because a Python package is not installed."""
    extra = extra_for(error)
    install = f"run  {install_command(extra)}  or, in a clone,  make doctor" if extra else "run  make doctor"
    return MissingToolError(
        f"{what} cannot be loaded: there is no Python package {error.name!r}", remedy=install
    )


class StoppedError(CheckError):
    """The user stopped the run. ``saved`` is the file or directory from which it can go on, if any."""

    exit_code = ExitCode.STOPPED

    def __init__(self, message: str, *, remedy: str, saved: Path | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.saved = saved


_LISTED = 50
"""Known names that are listed in full; of more the nearest ones are."""


def known_names(name: str, known: Iterable[str], *, lists: str = "") -> str:
    """A remedy for an unknown ``name``: the nearest known one and a list of all, or of many the nearest and
    the command that ``lists`` all, if there is one.
    """
    names = sorted(set(known))
    short = {each: each.rpartition("/")[2] for each in names}
    near = difflib.get_close_matches(name, names, n=5)
    near += [each for each in names if short[each] in difflib.get_close_matches(name, short.values(), n=5)]
    near = list(dict.fromkeys(near))[:5]
    if len(names) <= _LISTED:
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"{guess}known: {', '.join(names) if names else 'none'}"
    shown = ", ".join(map(repr, near))
    guess = f"did you mean {shown}? " if near else ""
    return f"{guess}{len(names)} are known" + (f"; `{lists}` lists all" if lists else "")
