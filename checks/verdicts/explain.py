"""What an exception means for the user: whose fault it is, in which words, with which exit status.

Errors that we raise on purpose say it themselves. Others come from one of three places: the text that is
judged (a protocol, an adapter, a program), the machine (a full disk, a folder that cannot be written), or
Tidemark itself.
"""

import errno
import sys
from pathlib import Path
from typing import NamedTuple

from tidemark.checks.verdicts.errors import CheckError, extra_for, extras, lacks_protocols, missing_package
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import BadInstance
from tidemark.models.judged import judged_place
from tidemark.models.manifest import ManifestError, PinError
from tidemark.spec.language.errors import SpecError

_MACHINE = {
    errno.ENOSPC: "make room, or name a folder on another disk",
    errno.EDQUOT: "make room, or name a folder on another disk",
    errno.EROFS: "name a folder that can be written",
    errno.EACCES: "change its owner or mode, or name another one",
    errno.EPERM: "change its owner or mode, or name another one",
    errno.ENOTDIR: "name a folder, not a file",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: "name a folder, not a file",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close other programs: the system has no file left to open",
}
"""By error number: what to do about a machine that does not let us work."""


class Explained(NamedTuple):
    """An exception for the user."""

    code: ExitCode
    message: str
    remedy: str


def _missing_extra(error: BaseException) -> ModuleNotFoundError | None:
    """That a package of an extra is not there, however that was reported."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, CheckError):
        if isinstance(seen, ModuleNotFoundError) and (extra_for(seen) or lacks_protocols(seen)):
            return seen
        seen = seen.__cause__
    return None


def explain(error: Exception | SystemExit) -> Explained:
    """Say what an exception means."""
    from tidemark.models.simulation.errors import ProgramError  # loads asyncio and all that is simulated

    missing = _missing_extra(error)
    if missing is not None:
        error = missing_package(judged_place(missing) or "this command", missing)
    if isinstance(error, CheckError):
        return Explained(error.exit_code, error.message, error.remedy)
    if isinstance(error, ManifestError):
        code = ExitCode.VACUOUS_OR_UNPINNED if isinstance(error, PinError) else ExitCode.BAD_INPUT
        return Explained(code, str(error), error.remedy)
    if isinstance(error, SpecError):
        return Explained(ExitCode.BAD_INPUT, error.text + error.excerpt, error.remedy)
    if isinstance(error, BadInstance):
        return Explained(ExitCode.BAD_INPUT, str(error), "correct the bounds or constants")
    if isinstance(error, ProgramError):
        place = error.place or judged_place(error)
        words = f"{place}: {error}" if place else str(error)
        return Explained(ExitCode.BAD_INPUT, words, "correct this in the program that is judged")
    if isinstance(error, OSError) and error.errno in _MACHINE:
        where = f"{error.filename}: " if error.filename else ""
        return Explained(ExitCode.BAD_INPUT, f"{where}{error.strerror}", _MACHINE[error.errno])
    said = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else str(error)
    name = f"{type(error).__name__}: {said}".rstrip(": ")
    place = judged_place(error)
    if place:
        return Explained(
            ExitCode.BAD_INPUT, f"{place}: {name}", "correct this line of the code that is judged"
        )
    foreign = _takes_a_name()
    if foreign:
        return Explained(
            ExitCode.BAD_INPUT, f"{foreign} stands in for an installed module: {name}", "rename it"
        )
    return Explained(ExitCode.INTERNAL_ERROR, name, "report it")


def _takes_a_name() -> str:
    """A file of the user's folder that was loaded under the name of a module that Tidemark needs."""
    ours = {name.replace("-", "_") for names in extras().values() for name in names} | {"z3"}
    for name in sorted((ours | sys.stdlib_module_names) & sys.modules.keys()):
        file = Path(getattr(sys.modules[name], "__file__", None) or "")
        if file.parent == Path.cwd():
            return str(file)
    return ""
