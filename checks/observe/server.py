"""The real server: its settings, its start and its health. Standalone, or a proxy beside it."""

import http.client
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.observe.package import SLOW_DISK, Package
from tidemark.checks.observe.processes import Child, Processes
from tidemark.checks.verdicts.errors import MissingToolError

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*(?:\(\w+\))?\s*(?::\s*(.*?))?\s*\}\}")
_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Where a server process listens."""

    client: int
    internal: int
    health: int


STANDALONE_PORTS = Ports(client=19530, internal=19529, health=9091)
PROXY_PORTS = Ports(client=19630, internal=19629, health=9191)
ETCD_PORT = 2379
# Of the server's roles and of etcd's peers; the server offers no way to leave them out.
OTHER_PORTS = (ETCD_PORT, 2380, 13333, 19531, 21121, 21123, 21124, 53100)


@dataclass(kw_only=True)
class Setting:
    """What differs from the settings of the package.

    ``lease`` is the seconds that a session lives without its process; ``kafka`` the address of a broker,
    RocksMQ if None; ``level`` of the log.
    """

    lease: int = 30
    kafka: str | None = None
    level: str = "info"


class Server:
    """One server process, which can be killed and started again over the same data.

    Args:
        package: the program and its templates.
        processes: who ends it.
        role: ``standalone`` or ``proxy``.
        folder: its settings and its data.
        logs: gets ``<name>-<incarnation>.log``.
        slowable: run it so that its disk can be made slow.
    """

    def __init__(
        self, package: Package, *, processes: Processes, role: str, folder: Path, logs: Path,
        setting: Setting, slowable: bool = False,
    ) -> None:  # fmt: skip
        self.role = role
        self.disk = folder / "disk" if slowable else None
        self.ports = STANDALONE_PORTS if role == "standalone" else PROXY_PORTS
        self.incarnation = 0
        self.child: Child | None = None
        self._package = package
        self._processes = processes
        self._folder = folder
        self._logs = logs
        # Each setting can come from a variable: its path in capitals, the parts joined by underlines.
        found = {
            "COMMON_SESSION_TTL": str(setting.lease),
            "LOG_LEVEL": setting.level,
            "PROXY_PORT": str(self.ports.client),
            "PROXY_INTERNALPORT": str(self.ports.internal),
            "ETCD_USE_EMBED": "true" if role == "standalone" else "false",
        }
        if setting.kafka is not None:
            found |= {"MQ_TYPE": "kafka", "KAFKA_BROKERLIST": setting.kafka}
        self._setting = found
        _write_settings(package, folder)

    @property
    def name(self) -> str:
        """Name of the present incarnation."""
        return f"{self.role}-{self.incarnation}"

    @property
    def data(self) -> Path:
        """Where the store, the broker and the files of this process are."""
        return self._folder / "data"

    def start(self) -> Child:
        """Start the process; it does not answer yet."""
        self.incarnation += 1
        # Set behind the wrapper: the server's own libraries do not fit a Python.
        libraries = f"LD_LIBRARY_PATH={self._package.folder / 'bin'}"
        command = ["env", libraries, str(self._package.program), "run", self.role]
        if self.disk is not None:
            self.disk.with_suffix(".delayed").unlink(missing_ok=True)
            command = self._package.inside(SLOW_DISK, str(self.disk), *command)
        self.child = self._processes.start(
            self.name,
            command,
            log=self._logs / f"{self.name}.log",
            environment={
                "DEPLOY_MODE": "STANDALONE" if self.role == "standalone" else "DISTRIBUTED",
                "METRICS_PORT": str(self.ports.health),
                "MILVUS_RUN_DIR": str(self._folder / "run"),
                "MILVUSCONF": str(self._folder / "configs"),
            }
            | self._setting,
        )
        return self.child

    def slow_disk(self, milliseconds: int) -> None:
        """From now on each flush of its disk takes so much longer; only for one that is ``slowable``."""
        assert self.disk is not None
        self.disk.write_text(str(milliseconds))

    def flushes_delayed(self) -> int:
        """How many flushes were made to wait since the last start."""
        assert self.disk is not None
        counted = self.disk.with_suffix(".delayed")
        return counted.stat().st_size if counted.exists() else 0

    def wait_healthy(self, seconds: float) -> float:
        """Wait until it answers; the seconds that it took. Raise MissingToolError if it does not come."""
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            if self.child is None or not self.child.running():
                raise MissingToolError(
                    f"the server {self.name} ended instead of answering; its log ends with: {self._tail()}",
                    remedy="look into its log",
                )
            if _healthy(self.ports.health):
                return time.monotonic() - began
            time.sleep(_POLL_SECONDS)
        raise MissingToolError(
            f"the server {self.name} did not answer in {seconds:.0f} s; its log ends with: {self._tail()}",
            remedy="free memory (it wants about 300 MB) and look into its log",
        )

    def _tail(self) -> str:
        return self.child.tail() if self.child else "(not started)"

    def kill(self) -> None:
        """kill -9."""
        if self.child is not None:
            self.child.kill()


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2.0)
    try:
        connection.request("GET", "/healthz")
        return b"OK" in connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _write_settings(package: Package, folder: Path) -> None:
    configs, data = folder / "configs", folder / "data"
    for each in (configs, data, folder / "run", folder / "logs"):
        each.mkdir(parents=True, exist_ok=True)
    places = {
        "etcd_data_dir": data / "etcd", "rocksmq_data_dir": data / "rocksmq", "local_storage_dir": data,
        "system_log_path": folder / "logs", "etcd_log_path": folder / "logs" / "etcd.log",
    }  # fmt: skip
    template = (package.folder / "config.yaml.template").read_text()
    filled = _PLACEHOLDER.sub(lambda found: str(places.get(found[1], found[2] or "")), template)
    (configs / "milvus.yaml").write_text(filled)
    shutil.copy(package.folder / "glog.conf", configs)
