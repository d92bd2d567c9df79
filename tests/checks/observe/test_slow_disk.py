"""The wrapper that makes the disk of a program slow."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.processes import ends
from tidemark.checks.observe import package

ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
CAN = platform.machine() == "x86_64" and ACTIONS.exists() and "user_notif" in ACTIONS.read_text()

pytestmark = pytest.mark.skipif(
    not CAN, reason="the kernel has no seccomp notices (Linux 5.0 on x86_64 with CONFIG_SECCOMP_FILTER)"
)

FLUSH = """
import os, sys, threading, time
def work(name):
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(file, b"x")
    began = time.monotonic()
    (os.fsync if name.endswith("0") else os.fdatasync)(file)
    took.append(time.monotonic() - began)
took = []
threads = [threading.Thread(target=work, args=(f"{sys.argv[1]}{n}",)) for n in range(3)]
[each.start() for each in threads]; [each.join() for each in threads]
print(*sorted(took)); sys.exit(9)
"""


def slowed(control: Path, *command: str) -> list[str]:
    here = package.Package(version="", folder=control.parent, python=Path(sys.executable))
    return here.inside(package.SLOW_DISK, str(control), *command)


def flush(tmp_path: Path, milliseconds: int) -> list[float]:
    control = tmp_path / "disk"
    control.write_text(str(milliseconds))
    command = slowed(control, sys.executable, "-c", FLUSH, str(tmp_path / "file"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 9, done.stderr  # the program's own
    return [float(one) for one in done.stdout.split()]


def test_flushes_wait_one_after_the_other(tmp_path: Path) -> None:
    took = flush(tmp_path, 150)
    assert [seconds >= 0.15 * (place + 1) - 0.05 for place, seconds in enumerate(took)] == [True] * 3
    assert (tmp_path / "disk.delayed").stat().st_size == 3


def test_a_quick_disk_delays_nothing(tmp_path: Path) -> None:
    assert len(flush(tmp_path, 0)) == 3
    assert not (tmp_path / "disk.delayed").exists()


def test_the_disk_ends_with_its_program(tmp_path: Path) -> None:
    """Also while a flush waits: the group is killed as a crash does it."""
    control = tmp_path / "disk"
    control.write_text("60000")
    command = slowed(control, sys.executable, "-c", FLUSH, str(tmp_path / "file"))
    process = subprocess.Popen(command, start_new_session=True)
    until = time.monotonic() + 30
    while not (tmp_path / "disk.delayed").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert (tmp_path / "disk.delayed").exists()
    group = [one.pid for one in psutil.Process(process.pid).children(recursive=True)]
    os.killpg(process.pid, 9)
    assert process.wait(10) == -9
    assert group
    assert ends(*group)
