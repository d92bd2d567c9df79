"""A place of their own for the processes: a network with loopback only, and process ids that end together."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_NETWORK = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL"]
_TRY_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Place:
    """How commands get there: ``prefix`` goes before a command; ``why_not`` if there is no such place."""

    prefix: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def apart(self) -> bool:
        """Whether it is a place of its own."""
        return bool(self.prefix)

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, run there."""
        return [*self.prefix, *command]


def find_place() -> Place:
    """A namespace where the machine lets us have one, as root or as user; else the machine, and why."""
    unshare = shutil.which("unshare")
    address = shutil.which("ip")
    if unshare is None or address is None:
        missing = "unshare (util-linux)" if unshare is None else "ip (iproute2)"
        return Place(why_not=f"this machine has no {missing}")
    why = ""
    for user in ([], ["--user", "--map-root-user"]):
        prefix = (unshare, *user, *_NETWORK, "sh", "-c", f'{address} link set lo up && exec "$@"', "sh")
        why = _trial([*prefix, "true"])
        if not why:
            return Place(prefix=prefix)
    return Place(why_not=why)


def _trial(command: list[str]) -> str:
    """Why the command does not work; empty if it does."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TRY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"exit status {done.returncode}")
