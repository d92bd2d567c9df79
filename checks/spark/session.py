"""The one Spark session of a process.

A session takes 5 to 20 s to start, so that whatever runs in a process shares it. It leaves nothing outside
the build folder, listens on the loopback address only (unless the master is on another machine), and says
nothing unless something is wrong.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil

from tidemark.checks.spark.java import Java, find_java, private_home
from tidemark.checks.spark.master import Master, UnreachableMasterError, parse_master, require_reachable
from tidemark.checks.spark.package_code import code_zip
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError
from tidemark.models.manifest.folders import importable
from tidemark.models.rooms import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


T = TypeVar("T")
_EXECUTOR = "CoarseGrainedExecutorBackend"


def free_port() -> int:
    """A port of the loopback address that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(what: Callable[[], T | None], *, seconds: float = 30.0) -> T:
    """The first true value of ``what()``. Raises TimeoutError after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise TimeoutError(f"nothing after {seconds} s")


def listens(port: int) -> bool:
    """Whether a process of this machine accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def host(number: int) -> str:
    """An address of this machine for each worker: Spark speculates only across hosts."""
    address = f"127.0.0.{number + 1}"
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:  # not every system has more than one loopback address
            return "127.0.0.1"
    return address


@contextmanager
def cluster(folder: Path, *, workers: int = 2) -> Iterator[tuple[str, list[psutil.Process]]]:
    """Address of the master and the processes of the workers; everything is stopped in the end."""
    import pyspark

    home = Path(pyspark.__file__).parent
    java = private_home(find_java(), folder=folder)
    environment = dict(os.environ, SPARK_HOME=str(home), JAVA_HOME=str(java), SPARK_LOCAL_IP="127.0.0.1")
    environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_DIRS": str(folder / "local")}
    # Without its start scripts, a worker would look for Scala in a source tree.
    environment["SPARK_SCALA_VERSION"] = "2.13"
    # Java only hands things on: its second compiler and a collector with threads take more than they give.
    cheap = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
    base = [str(java / "bin" / "java"), *cheap, "-cp", f"{home / 'jars'}/*"]
    port, logs = free_port(), folder / "logs"
    logs.mkdir(parents=True)
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (logs / f"{name}.txt").open("wb") as log:
            started.append(
                subprocess.Popen([*base, *arguments], env=environment, stdout=log, stderr=log, cwd=folder)
            )
        return started[-1]

    try:
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
        start("master", *master, "--webui-port", "0")
        wait_for(lambda: listens(port))
        worker = ["org.apache.spark.deploy.worker.Worker", "--cores", "1"]
        worker += ["--memory", "600m", "--webui-port", "0"]
        url = f"spark://127.0.0.1:{port}"
        processes = [
            start(f"worker-{n}", *worker, "--host", host(n), "--work-dir", str(folder / f"work-{n}"), url)
            for n in range(workers)
        ]
        yield url, [psutil.Process(process.pid) for process in processes]
    finally:
        for process in reversed(started):
            with suppress(psutil.NoSuchProcess):  # it may have ended by itself
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()


def executors(workers: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that run tasks."""
    children = [child for worker in workers for child in worker.children(recursive=True)]
    return [child for child in children if _EXECUTOR in " ".join(child.cmdline())]


DEFAULT_MASTER = "local[*]"

_LOOPBACK = "127.0.0.1"
_SOCKET_FOLDER = 50
"""Longest folder for sockets: the system allows some hundred characters for the whole name."""

_QUIET_LOG = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark %p %c{{1}}: %m%n%ex
# Spark takes this logger's level for the whole program, and says so when it differs from the root's.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
"""


_EVERYWHERE = {
    # Partitions are owners of states: Spark must not merge or split them.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The same words in every process that hashes a string or orders a set.
    "spark.executorEnv.PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
    "spark.python.worker.reuse": "true",
    # Over TCP the first bytes of a task wait 40 ms for an acknowledgement. Spark knows this from 4.1 on.
    "spark.python.unix.domain.socket.enabled": "true",
}


class SparkStartError(MissingToolError):
    """Spark did not start, for a reason that is known only from its output."""


class OtherMasterError(BadInputError):
    """The process already has a session, with another master."""


@dataclass(frozen=True, kw_only=True)
class SparkOptions:
    """How the session is set up; the defaults suit a machine of any size."""

    ui: bool = False
    """Serve Spark's web pages on a loopback port."""

    log_level: str = "ERROR"
    memory_gib: int | None = None
    """Heap of the driver's JVM; None takes a quarter of the machine, between 1 and 4 GiB."""

    executor_seconds: float = 60.0
    """How long the first executor of a cluster may take to register."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Spark's own settings; they win over those made here."""


def spark_session(
    *,
    master: str | None = None,
    build: Path = Path("build"),
    options: SparkOptions | None = None,
) -> SparkSession:
    """The session of this process, started at the first call.

    Args:
        master: address of the master; None takes the running session's, or ``local[*]``.
        build: folder below which Spark keeps what it writes, in ``spark/``.
        options: how a new session is set up; a running one is taken as it is.

    Raises:
        MalformedMasterError: ``master`` is not the address of a Spark master.
        UnreachableMasterError: nothing answers there, or no executor registers.
        MissingJavaError: no usable Java.
        OtherMasterError: the session of this process has another master.
        SparkStartError: Spark did not start for another reason.
    """
    with _LOCK:
        running = active_session()
        if running is not None:
            if _asked_for(master) not in (None, running.sparkContext.master):
                raise OtherMasterError(
                    f"a session with master {running.sparkContext.master!r} runs in this process; "
                    f"{master!r} was asked for",
                    remedy="name one master for the whole run, or call stop_session() first",
                )
            return running
        if submitted():
            return _start_submitted(_asked_for(master), folder=build.resolve() / "spark")
        place = parse_master(DEFAULT_MASTER if master is None else master)
        require_reachable(place)
        return _start(place, find_java(), folder=build.resolve() / "spark", options=options or SparkOptions())


def submitted() -> bool:
    """Did spark-submit start this process? Then Spark runs already, and master and settings are its own."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _asked_for(master: str | None) -> str | None:
    """Under spark-submit the default master is no wish."""
    return None if submitted() and master == DEFAULT_MASTER else master


def active_session() -> SparkSession | None:
    """The running session of this process; None also if its Java process is gone. Does not import Spark."""
    if "pyspark.sql" not in sys.modules:
        return None
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # getActiveSession() knows only the sessions of the present thread.
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - Python has no other way to ask
        return None
    try:
        return SparkSession.builder.getOrCreate()
    except (OSError, Py4JError):
        java = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001
        if java is not None:
            java.kill()
            java.communicate()
        # Else a new session would be told that this one runs.
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
        return None


def stop_session() -> None:
    """Stop the session of this process, if any; the next call of ``spark_session`` starts another."""
    if "pyspark.sql" not in sys.modules:
        return
    from py4j.protocol import Py4JError

    with _LOCK, suppress(OSError, Py4JError):  # a Java process that is gone needs no stop, nor answers
        session = active_session()
        if session is not None:
            session.stop()


def settings(master: Master, *, folder: Path, options: SparkOptions) -> dict[str, str]:
    """Spark's settings for a session with this master that writes below ``folder``."""
    memory = options.memory_gib or max(1, min(4, psutil.virtual_memory().total // 4 // 2**30))
    chosen = {
        "spark.ui.enabled": str(options.ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": f"{memory}g",
        "spark.driver.extraJavaOptions": " ".join(_java_options(master, folder)),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # Hive would make a metastore in the current directory.
        "spark.sql.catalogImplementation": "in-memory",
        **_EVERYWHERE,
    }
    if master.is_local:
        chosen["spark.shuffle.compress"] = "false"  # nothing is sent to another machine
        chosen["spark.python.daemon.module"] = "tidemark.checks.spark.daemon"
        if (
            len(str(folder)) < _SOCKET_FOLDER
        ):  # else in the temporary folder, where a killed process leaves them
            chosen["spark.python.unix.domain.socket.dir"] = str(folder / "local")
    if master.on_loopback:
        chosen |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
        chosen |= {"spark.executorEnv.PYTHONPATH": os.pathsep.join([str(Path.cwd()), *importable()])}
    return chosen | dict(options.settings)


def _java_options(master: Master, folder: Path) -> list[str]:
    places = {"log4j2.configurationFile": "log4j2.properties", "derby.system.home": "derby"}
    chosen = [f"-D{key}={_quoted(folder / value)}" for key, value in places.items()]
    # A query that is stopped compares the error of its batch with a regular expression, a call a letter.
    chosen.append("-Xss16m")
    if master.on_loopback:
        # Java only passes on what Python computes, and its second compiler takes the cores from that.
        chosen.append("-XX:TieredStopAtLevel=1")
    return chosen


def _start(master: Master, java: Java, *, folder: Path, options: SparkOptions) -> SparkSession:
    for name in ("local", "warehouse"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "log4j2.properties").write_text(_QUIET_LOG.format(level=options.log_level.lower()))
    # What the JVM and the Python workers inherit. The JVM reads it when it starts, so it is set before.
    home = private_home(java, folder=folder)
    os.environ["JAVA_HOME"] = str(home)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if master.on_loopback:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
        _make_importable(Path.cwd())
    else:
        # Another machine may have its Python elsewhere.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYTHONHASHSEED", "0")

    import pyspark
    from pyspark.errors import PySparkException, PySparkRuntimeError
    from pyspark.sql import SparkSession

    # A SPARK_HOME of another version would be started with this version's Python side.
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    builder = SparkSession.builder.appName("tidemark").master(master.url)
    for key, value in settings(master, folder=folder, options=options).items():
        builder = builder.config(key, value)
    from py4j.protocol import Py4JError

    on_interrupt = signal.getsignal(signal.SIGINT)
    try:
        session = builder.getOrCreate()
    except (PySparkException, PySparkRuntimeError, Py4JError, OSError) as error:
        raise _start_error(master, java, error) from error
    if threading.current_thread() is threading.main_thread():
        # Spark's handler calls Java, mostly in the middle of a call of Java, which breaks the connection.
        signal.signal(signal.SIGINT, on_interrupt)
    if not master.is_local:
        # Without this a cluster that has no worker to give makes the first job wait for ever.
        context = session.sparkContext._jsc.sc()  # noqa: SLF001 - Python has no other way to ask
        deadline = time.monotonic() + options.executor_seconds
        # The driver itself is one entry.
        while context.getExecutorMemoryStatus().size() < 2:
            if time.monotonic() > deadline:
                asked = session.conf.get("spark.executor.memory", "1g")
                session.stop()
                raise UnreachableMasterError(
                    master.url,
                    f"no executor registered within {options.executor_seconds:g} s; its workers need "
                    f"spark.executor.memory = {asked} free (or less: spark-defaults.conf in SPARK_CONF_DIR)",
                )
            time.sleep(0.2)
    if not master.on_loopback:
        session.sparkContext.addPyFile(str(code_zip(folder=folder)))
    return session


def _start_submitted(master: str | None, *, folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tidemark")
    for key, value in _EVERYWHERE.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    found = session.sparkContext.master
    if master not in (None, found):
        session.stop()
        raise OtherMasterError(
            f"spark-submit has the master {found!r}; {master!r} was asked for",
            remedy="name the master once, for spark-submit",
        )
    if ROOT.is_dir():  # else this code came in a zip itself, which executors have too
        # Send the code, unless spark-submit did. Raises BadInputError if it sent other code than this.
        code = code_zip(folder=folder)
        sent = [Path(name).name for name in (session.conf.get("spark.submit.pyFiles", "") or "").split(",")]
        other = [name for name in sent if name.startswith("tidemark-") and name != code.name]
        if other:
            session.stop()
            raise BadInputError(
                f"{other[0]} is not this code, which is {code.name}",
                remedy="run  tidemark spark package  again",
            )
        if code.name not in sent:
            session.sparkContext.addPyFile(str(code))
    return session


def _make_importable(folder: Path) -> None:
    """Processes that are started below this one find the modules of the folder in which it was started."""
    known = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    if str(folder) not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([*known, str(folder)])


def _start_error(master: Master, java: Java, error: Exception) -> MissingToolError:
    first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if master.hosts:
        return UnreachableMasterError(
            master.url, f"it accepts connections but not this session: {first_line}"
        )
    return SparkStartError(
        f"Spark did not start with Java {java.version} ({java.origin}: {java.executable}): {first_line}",
        remedy="look at the lines that Spark printed above; `tidemark doctor` says what this machine lacks",
    )


def _quoted(path: Path) -> str:
    text = str(path)
    return f'"{text}"' if " " in text else text


_LOCK = threading.RLock()
