"""A standalone cluster on the loopback address: a master and workers, from the installed Spark package."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psutil

from tidemark.checks.spark.java import find_java, private_home

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
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


def executors(workers: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that run tasks."""
    children = [child for worker in workers for child in worker.children(recursive=True)]
    return [child for child in children if _EXECUTOR in " ".join(child.cmdline())]
