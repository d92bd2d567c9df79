"""A private etcd server on this machine: for tests, the demonstration and measurements."""

import http.client
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tidemark.impl.errors import StoreError

ABSENT = "the program etcd is not there: sh checks/environment/etcd.sh fetches it on Debian and Ubuntu"
_READY_SECONDS = 20.0
_STOP_SECONDS = 10.0


def find_etcd() -> str | None:
    """Return the program, from the PATH or from beside the Python interpreter; None if there is none."""
    places = [os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    return shutil.which("etcd", path=os.pathsep.join(places))


class EtcdServer:
    """One server, listening on the loopback interface only. A context manager.

    It can be killed and started again: the ports and the data stay the same.

    Args:
        folder: for its data and its log; may exist already.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = _free_ports(2)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where clients find it."""
        return f"http://127.0.0.1:{self._ports[0]}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, and wait until it answers. Raise StoreError if it does not."""
        program = find_etcd()
        if program is None:
            raise StoreError(ABSENT)
        self.folder.mkdir(parents=True, exist_ok=True)
        peer = f"http://127.0.0.1:{self._ports[1]}"
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    program,
                    *("--name", "only", "--data-dir", str(self.folder / "data")),
                    *("--listen-client-urls", self.endpoint, "--advertise-client-urls", self.endpoint),
                    *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                    *("--initial-cluster", f"only={peer}"),
                    # The least lease is one and a half election time-outs, in whole seconds.
                    *("--heartbeat-interval", "50", "--election-timeout", "500"),
                ],
                stdout=log, stderr=log, env=_environment(),
            )  # fmt: skip
        self._wait_ready(self._process)

    def kill(self) -> None:
        """Kill it."""
        self._end(graceful=False)

    def stop(self) -> None:
        """End it."""
        self._end(graceful=True)

    def _end(self, *, graceful: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if graceful:
            process.terminate()
        else:
            process.kill()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait_ready(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _READY_SECONDS
        while time.monotonic() < until and process.poll() is None:
            if self._is_healthy():
                return
            time.sleep(0.05)
        self.stop()
        tail = (self.folder / "log").read_text(errors="replace")[-500:]
        raise StoreError(f"etcd did not begin to answer at {self.endpoint}; its log ends with: {tail}")

    def _is_healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._ports[0], timeout=1.0)
        try:
            connection.request("GET", "/health")
            return b"true" in connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def _environment() -> dict[str, str]:
    """Hides settings of another server; some machines have to be allowed by name."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ETCD_")}
    if platform.machine() == "aarch64":
        kept["ETCD_UNSUPPORTED_ARCH"] = "arm64"
    return kept


def _free_ports(count: int) -> tuple[int, ...]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(int(each.getsockname()[1]) for each in sockets)
    finally:
        for each in sockets:
            each.close()
