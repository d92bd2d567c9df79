"""Errors that end a run, each with its exit code. Messages name the offending value and the remedy.

The extras of this installation, and how it gets one that it lacks: from where it was installed itself.

Never by its name alone, for which pip would ask a public index: what lies there under this name is not ours.
"""

import difflib
import json
import re
import shlex
import traceback
from collections.abc import Iterable
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import INSTALL_PROTOCOLS, PACKAGE, PROTOCOLS, ROOT

NOT_PARTS = frozenset({"all", "test"})
"""Extras that no part of the code asks for by itself."""

_UNKNOWN = f"path/to/{PACKAGE}"
_DISTRIBUTIONS = {"z3": "z3-solver"}
"""By Python package: the distribution that brings it, where that has another name."""

_PARTS = {
    "checks/evidence": "evidence",
    "checks/cli/evidence.py": "evidence",
    "checks/observe": "evidence",
    "checks/spark": "spark",
    "checks/cli/spark": "spark",
    "checks/prove": "prove",
    "models/symbolic": "prove",
    "checks/explore": "explore",
    "models/native": "explore",
    "checks/conform": "conform",
    "models/conformance": "conform",
    "impl": "impl",
}
"""By folder or file: the extra with which its code is installed."""


def extras(about: Message | None = None) -> dict[str, list[str]]:
    """By extra: the distributions that it brings, also by other extras; under "" what is always needed.

    about: the metadata of the installed distribution; by default that of this one. Empty if it has none.
    """
    try:
        about = about if about is not None else cast("Message", metadata.metadata(PACKAGE))
    except metadata.PackageNotFoundError:
        return {}
    needs: dict[str, list[str]] = {name: [] for name in ["", *about.get_all("Provides-Extra", [])]}
    within: dict[str, list[str]] = {}
    for line in about.get_all("Requires-Dist", []):
        extra = re.search(r"extra == [\"']([^\"']+)", line)
        own = re.match(rf"{PACKAGE}\[([^\]]+)\]", line)
        name = re.match(r"[A-Za-z0-9._-]+", line)
        if own and extra:
            within[extra[1]] = own[1].split(",")
        elif name:
            needs.setdefault(extra[1] if extra else "", []).append(name[0])
    for extra_name, others in within.items():
        needs[extra_name] += [one for other in others for one in needs[other] if one not in needs[extra_name]]
    return needs


def extra_for(error: ModuleNotFoundError) -> str | None:
    """The extra that brings what could not be imported; None if none does.

    Several may bring it. It is then that of the part that was being loaded, the outermost first.
    """
    package = (error.name or "").partition(".")[0]
    wanted = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
    bring = [name for name, needs in extras().items() if name and name not in NOT_PARTS and wanted in needs]
    files = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    parts = [extra for file in files for place, extra in _PARTS.items() if file.is_relative_to(ROOT / place)]
    return next((part for part in parts if part in bring), bring[0] if bring else None)


def install_command(extra: str, *, origin: str | None = None) -> str:
    """The command that adds an extra to this installation.

    origin: what pip has noted about where the distribution came from (``direct_url.json``).
    """
    if origin is None:
        origin = _origin()
    noted = json.loads(origin or "{}")
    url = noted.get("url", "")
    if not url:
        return f"pip install {shlex.quote(f'{_UNKNOWN}[{extra}]')}"
    if "vcs_info" in noted:
        version = noted["vcs_info"].get("commit_id", "")
        url = f"{noted['vcs_info']['vcs']}+{url}" + f"@{version}" * bool(version)
    parts = urlsplit(url)
    if parts.scheme != "file":
        return f"pip install {shlex.quote(f'{PACKAGE}[{extra}] @ {url}')}"
    editable = "-e " * noted.get("dir_info", {}).get("editable", False)
    return f"pip install {editable}{shlex.quote(f'{unquote(parts.path)}[{extra}]')}"


def _origin() -> str:
    try:
        return metadata.distribution(PACKAGE).read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        return ""


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


def lacks_protocols(error: ModuleNotFoundError) -> bool:
    """Whether what could not be imported is a part of the suite's own protocols, which are not installed."""
    return (error.name or "").startswith(f"{PACKAGE}.") and not PROTOCOLS.is_dir()


def missing_package(what: str, error: ModuleNotFoundError) -> MissingToolError:
    """The error for something that cannot be loaded, because a Python package is not installed."""
    if lacks_protocols(error):
        return MissingToolError(
            f"{what} needs the protocols of Milvus: there is no {error.name}", remedy=INSTALL_PROTOCOLS
        )
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
    close = difflib.get_close_matches(name, short.values(), n=5)
    near += [each for each in names if short[each] in close]
    near = list(dict.fromkeys(near))[:5]
    if len(names) <= _LISTED:
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"{guess}known: {', '.join(names) if names else 'none'}"
    shown = ", ".join(map(repr, near))
    guess = f"did you mean {shown}? " if near else ""
    return f"{guess}{len(names)} are known" + (f"; `{lists}` lists all" if lists else "")
