"""The scripts that fetch servers never fail where there is none to be had, and say why."""

import shutil
from pathlib import Path

import pytest

from tests.processes import finished
from tidemark.models.rooms import ROOT

TOOLS = "sh dirname sed tr ls mkdir cmp rm tail head grep cp mv chmod mktemp id cat"
ETCD = "#!/bin/sh\necho etcd Version: 0.0\n"


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def clone(folder: Path, name: str) -> Path:
    """One of the scripts, and a PATH of nothing but the usual tools."""
    for below in ("checks/environment", ".venv/bin", "tools", "requirements"):
        (folder / below).mkdir(parents=True)
    shutil.copy(ROOT / f"checks/environment/{name}.sh", folder / "checks/environment")
    for tool in TOOLS.split():
        (folder / "tools" / tool).symlink_to(shutil.which(tool) or f"no {tool} on this machine")
    return folder


@pytest.fixture
def etcd(tmp_path: Path) -> Path:
    program(clone(tmp_path, "etcd") / ".venv/bin/python", "")
    return tmp_path


@pytest.fixture
def milvus(tmp_path: Path) -> Path:
    program(clone(tmp_path, "milvus") / "tools/uname", 'case "$1" in -s) echo Linux;; *) echo x86_64;; esac')
    for name in ("milvus", "milvus-2.3.5", "milvus-2.3.0"):
        (tmp_path / f"requirements/{name}.lock").write_text(name)
    return tmp_path


def fetch(folder: Path, *arguments: str) -> tuple[int, str]:
    (script,) = (folder / "checks/environment").iterdir()
    done = finished(
        ["sh", str(script.relative_to(folder)), *arguments], cwd=folder, env={"PATH": str(folder / "tools")}
    )
    return done.returncode, done.stderr


def packages(folder: Path, *, apt: str) -> None:
    """Tools that pretend to be apt-get and dpkg-deb."""
    program(folder / "tools/apt-get", apt)
    unpack = f'mkdir -p "$3/usr/bin"; printf {ETCD!r} > "$3/usr/bin/etcd"; chmod 755 "$3/usr/bin/etcd"'
    program(folder / "tools/dpkg-deb", unpack)


def test_without_apt_it_says_so_and_succeeds(etcd: Path) -> None:
    status, said = fetch(etcd)
    assert status == 0
    assert "no etcd: this machine has no apt-get; the tests with a real one will be skipped" in said
    assert not (etcd / ".venv/bin/etcd").exists()


def test_a_package_that_cannot_be_had_is_no_failure(etcd: Path) -> None:
    packages(etcd, apt='echo "E: Unable to locate package etcd-server"; exit 100')
    status, said = fetch(etcd)
    assert status == 0
    assert "apt-get cannot download etcd-server: E: Unable to locate package" in said


def test_the_program_of_the_package_is_kept_and_fetched_once(etcd: Path) -> None:
    packages(etcd, apt='[ "$2" = download ] && : > etcd-server_1_all.deb')
    status, said = fetch(etcd)
    assert (status, (etcd / ".venv/bin/etcd").read_text()) == (0, ETCD)
    assert "etcd is ready: etcd Version: 0.0" in said
    packages(etcd, apt="exit 99")
    assert fetch(etcd) == (0, "")


def test_an_etcd_of_the_machine_is_enough(etcd: Path) -> None:
    program(etcd / "tools/etcd", "echo etcd Version: 0.0")
    assert fetch(etcd) == (0, "")


def test_a_version_that_is_not_pinned_is_refused_with_the_list(milvus: Path) -> None:
    status, said = fetch(milvus, "9.9")
    assert status == 5
    assert "no version 9.9 is pinned; there are: 2.3.0 2.3.5" in said


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "tools/uname",
            'case "$1" in -s) echo Plan9;; *) echo mips;; esac',
            "for Linux on x86_64, this is Plan9 on mips; what needs a real server will be skipped",
        ),
        (".venv/bin/python", "exit 1", "its client needs Python 3.11 or 3.12"),
    ],
)
def test_another_machine_or_python_is_told_and_is_no_failure(
    milvus: Path, name: str, text: str, words: str
) -> None:
    program(milvus / name, text)
    status, said = fetch(milvus)
    assert status == 0
    assert words in said


def test_without_an_environment_it_says_what_to_run(milvus: Path) -> None:
    assert "there is no .venv yet, run  make doctor  first" in fetch(milvus)[1]


def test_a_package_that_cannot_be_had_leaves_no_stamp(milvus: Path) -> None:
    """The interpreter fits, makes an environment, and its pip finds nothing."""
    pip = "clients/bin/python"
    program(
        milvus / ".venv/bin/python",
        f'case "$*" in -c*) exit 0;; esac\nmkdir -p "$3/bin"; cp "{milvus}/nothing" "$3/bin/python"',
    )
    program(milvus / "nothing", 'echo "ERROR: No matching distribution" >&2; exit 1')
    status, said = fetch(milvus)
    assert status == 0
    assert "no Milvus 2.3.5: its clients cannot be had: ERROR: No matching distribution" in said
    assert (milvus / ".venv/milvus" / pip).exists()
    assert not (milvus / ".venv/milvus/clients/.ready").exists()
