"""Starts a run in a place of its own, shows its progress, and ends it whatever happens to us."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.observe.package import DEFAULT_VERSION, find_package
from tidemark.checks.observe.scenarios import SHIPPED_LEASE, Plan, Scenario
from tidemark.checks.observe.server import OTHER_PORTS, PROXY_PORTS, STANDALONE_PORTS
from tidemark.checks.verdicts.errors import BadInputError, CheckError, MissingToolError, StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode

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


_END_SECONDS = 15.0
_FILES = ("scenario.json", "etcd.ndjson", "broker.ndjson")

Show = Callable[[str], None]


def observe(
    scenario: Scenario,
    *,
    seed: int,
    folder: Path,
    version: str = DEFAULT_VERSION,
    lease: int = SHIPPED_LEASE,
    keep: bool = False,
    show: Show = print,
    place: Place | None = None,
) -> None:
    """Run a scenario and leave its evidence in ``folder``.

    Args:
        scenario: what to do.
        seed: of all that is drawn.
        folder: for the evidence; what an earlier run left there is replaced.
        version: of the server.
        lease: of a session, in seconds.
        keep: leave the server's data there too, in ``server``.
        show: gets each line of progress.
        place: where to run; the best that this machine has if None.

    Raises:
        BadInputError: the folder holds something else.
        MissingToolError: the server is not there, does not start, or a port is in use.
        StoppedError: the user stopped the run; everything that was started is ended.
    """
    package = find_package(version)
    where = place or find_place()
    if not where.apart:
        show(f"no network namespace ({where.why_not}): the server shares the network of this machine")
        _need_ports()
    _make_room(folder)
    with tempfile.TemporaryDirectory(prefix="tidemark-observe-", ignore_cleanup_errors=True) as scratch:
        plan = Plan(
            scenario=scenario, seed=seed, version=version, lease=lease, folder=folder.resolve(),
            scratch=Path(scratch) / "server", server=package.folder, python=package.python, apart=where.apart,
        )  # fmt: skip
        file = Path(scratch) / "plan.json"
        file.write_text(plan.model_dump_json())
        _run(where.command([sys.executable, "-m", "tidemark.checks.observe.supervise", str(file)]), show=show)
        if keep:
            shutil.copytree(plan.scratch, folder / "server", symlinks=True)


def _run(command: list[str], *, show: Show) -> None:
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True, bufsize=1,
            start_new_session=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            for line in process.stdout:
                show(line.rstrip("\n"))
            status = process.wait()
        except KeyboardInterrupt:
            raise StoppedError(
                "the run was stopped; everything that it started is ended", remedy="start it again"
            ) from None
        finally:
            _end(process)
        complaints.seek(0)
        said = complaints.read().strip()
    if status != ExitCode.AS_EXPECTED:
        raise _error(status, said)


def _end(process: subprocess.Popen[str]) -> None:
    """End the supervisor, which ends the rest. The end of its input is enough, unless it hangs."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        else:
            return
    process.wait()


def _error(status: int, said: str) -> CheckError:
    text = said.removeprefix("error: ")
    message, _, remedy = text.partition("\n  remedy: ")
    if status == ExitCode.STOPPED:
        return StoppedError("the run was stopped from outside", remedy="start it again")
    return MissingToolError(
        message or f"the supervisor ended with status {status}",
        remedy=remedy or "look into the logs of the run",
    )


def _make_room(folder: Path) -> None:
    """An empty folder; only what looks like a run of ours is replaced."""
    if folder.exists() and any(folder.iterdir()):
        if not any((folder / name).exists() for name in _FILES):
            raise BadInputError(
                f"{folder} holds something else than a run", remedy="name another one:  --out FOLDER"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _need_ports() -> None:
    wanted = [*OTHER_PORTS]
    for ports in (STANDALONE_PORTS, PROXY_PORTS):
        wanted += [ports.client, ports.internal, ports.health]
    for port in sorted(wanted):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                raise MissingToolError(
                    f"port {port} is in use ({error.strerror}), and there is no network namespace",
                    remedy="end the program that listens there, or run as a user who may make a namespace",
                ) from error
