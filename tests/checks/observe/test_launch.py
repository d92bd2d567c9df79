"""What stands before a run: package, folder, ports, place; the server's settings, processes and store."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checks.etcd_gateway import gateway, pair
from tests.processes import ends
from tidemark.checks.observe import launch, server
from tidemark.checks.observe.launch import Place, find_place
from tidemark.checks.observe.package import Package, find_package
from tidemark.checks.observe.processes import Processes
from tidemark.checks.observe.scenarios import SCENARIOS, find_scenario
from tidemark.checks.observe.stage import Store
from tidemark.checks.observe.supervise import STEPS
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError

HERE = Place(why_not="this test wants none")


@pytest.fixture
def package(tmp_path: Path) -> Package:
    place = tmp_path / "milvus"
    for name in (
        "9.9.9/bin/milvus",
        "clients/bin/python",
        "9.9.9/.ready",
        "clients/.ready",
        "9.9.9/glog.conf",
    ):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("#!/bin/sh\nexit 3\n")
        (place / name).chmod(0o755)
    (place / "9.9.9/config.yaml.template").write_text(
        "etcd:\n  port: {{ etcd_port(int): 2379 }}\n  dir: {{ etcd_data_dir }}\nlog: {{ level: info }}\n"
    )
    return find_package("9.9.9", within=place)


def test_every_scenario_has_its_steps() -> None:
    assert set(STEPS) == set(SCENARIOS) == {each.name for each in SCENARIOS.values()}
    with pytest.raises(BadInputError, match="no scenario 'crush'"):
        find_scenario("crush")
    with pytest.raises(BadInputError, match="a file is judged by  tidemark evidence"):
        find_scenario(__file__)


def test_a_version_that_was_not_fetched_names_the_command(package: Package) -> None:
    place = package.folder.parent
    with pytest.raises(
        MissingToolError, match=r"Milvus 1\.2\.3 is not in .*there: 9\.9\.9, clients"
    ) as caught:
        find_package("1.2.3", within=place)
    assert "make milvus VERSION=1.2.3" in caught.value.remedy
    with pytest.raises(BadInputError):
        find_package("../9.9.9", within=place)
    (place / "clients/.ready").unlink()
    with pytest.raises(MissingToolError):
        find_package("9.9.9", within=place)


def test_a_folder_with_something_else_is_not_emptied(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "find_package", lambda _version: package)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("dear")
    with pytest.raises(BadInputError, match="holds something else"):
        launch.observe(find_scenario("clean"), seed=0, folder=tmp_path / "mine", place=Place(prefix=("env",)))
    assert (tmp_path / "mine/letter").exists()


def test_without_a_place_of_its_own_a_port_in_use_is_named(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "find_package", lambda _version: package)
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(launch, "OTHER_PORTS", (port,))
        monkeypatch.setattr(launch, "STANDALONE_PORTS", server.Ports(client=port, internal=port, health=port))
        monkeypatch.setattr(launch, "PROXY_PORTS", server.Ports(client=port, internal=port, health=port))
        with pytest.raises(MissingToolError, match=f"port {port} is in use"):
            launch.observe(
                find_scenario("clean"), seed=0, folder=tmp_path / "out", place=HERE, show=said.append
            )
    assert said == [
        "no network namespace (this test wants none): the server shares the network of this machine"
    ]


def test_a_server_that_ends_at_once_is_an_error_with_its_log(package: Package, tmp_path: Path) -> None:
    with Processes() as processes:
        broken = server.Server(
            package, processes=processes, role="standalone", folder=tmp_path / "s", logs=tmp_path,
            setting=server.Setting(),
        )  # fmt: skip
        broken.start()
        with pytest.raises(MissingToolError, match="standalone-1 ended instead of answering"):
            broken.wait_healthy(20)


def test_the_template_is_filled_with_the_places_of_the_run(package: Package, tmp_path: Path) -> None:
    with Processes() as processes:
        server.Server(
            package, processes=processes, role="proxy", folder=tmp_path / "s", logs=tmp_path,
            setting=server.Setting(lease=6, kafka="127.0.0.1:9"),
        )  # fmt: skip
    filled = (tmp_path / "s/configs/milvus.yaml").read_text()
    assert filled == f"etcd:\n  port: 2379\n  dir: {tmp_path}/s/data/etcd\nlog: info\n"


def test_a_place_says_why_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    place = find_place()
    assert not place.apart
    assert "no unshare" in place.why_not
    assert place.command(["true"]) == ["true"]


SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# It starts a child of its own, and says its number.
_PARENT = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE).pid)
time.sleep(600)
"""
PARENT = [sys.executable, "-u", "-c", _PARENT]
ECHO = [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line, end='')"]


def test_all_are_ended_with_the_block_and_their_children_too(tmp_path: Path) -> None:
    with Processes() as processes:
        first = processes.start("first", SLEEP, log=tmp_path / "first")
        second = processes.start("second", PARENT, log=tmp_path / "second", talks=True)
        paused = processes.start("paused", SLEEP, log=tmp_path / "paused")
        paused.signal(signal.SIGSTOP)
        grandchild = int(second.line())
        assert first.running()
        assert second.running()
    assert ends(first.pid, second.pid, paused.pid, grandchild)


def test_an_error_inside_the_block_ends_them_too(tmp_path: Path) -> None:
    started = []

    def fail() -> None:
        with Processes() as processes:
            started.append(processes.start("child", SLEEP, log=tmp_path / "log"))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert ends(started[0].pid)


def test_they_die_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import time\nfrom pathlib import Path\nfrom tidemark.checks.observe.processes import Processes\n"
        f"child = Processes().start('child', {SLEEP!r}, log=Path({str(tmp_path / 'log')!r}))\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert ends(child)


def test_questions_are_answered_and_an_end_is_told_with_the_log(tmp_path: Path) -> None:
    with Processes() as processes:
        child = processes.start("echo", ECHO, log=tmp_path / "log", talks=True)
        assert child.ask(do="this", count=3) == {"do": "this", "count": 3}
        broken = processes.start("broken", [sys.executable, "-c", "raise SystemExit('no luck')"],
                                 log=tmp_path / "broken", talks=True)  # fmt: skip
        with pytest.raises(EOFError, match=r"broken ended; its log ends with: no luck"):
            broken.line()


def test_settings_of_other_servers_and_proxies_do_not_reach_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ETCD_NAME", "MILVUSCONF", "https_proxy", "PYTHONPATH"):
        monkeypatch.setenv(name, "astray")
    show = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    with Processes() as processes:
        child = processes.start("show", show, log=tmp_path / "log", environment={"OWN": "1"}, talks=True)
        found = child.line()
    assert "astray" not in found
    assert '"OWN": "1"' in found


def event(revision: int, key: str, *, delete: bool = False) -> dict[str, Any]:
    kv = pair(key, revision)
    return {"type": "DELETE", "kv": kv} if delete else {"kv": kv | {"value": "dg==", "lease": "7"}}


def test_events_up_to_the_revision_of_the_question(tmp_path: Path) -> None:
    first = {"events": [event(2, "a"), event(3, "b"), event(3, "c")]}
    second = {"events": [event(4, "a", delete=True), event(5, "later")]}
    out = tmp_path / "etcd.ndjson"
    with gateway({"created": True}, first, second, revision=4) as address:
        assert Store(address).write_history(out) == {"events": 4, "first": 2, "last": 4}
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["rev"], each["op"], each["key"], each["lease"]) for each in found] == [
        (2, "put", "a", 7), (3, "put", "b", 7), (3, "put", "c", 7), (4, "delete", "a", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ({"events": [event(2, "a")]}, "ended at revision 2, the store is at 9"),
        ({"compact_revision": "5"}, "before revision 5"),
    ],
)
def test_a_watch_that_ends_early_and_a_compacted_store_are_no_history(
    tmp_path: Path, batch: dict[str, Any], words: str
) -> None:
    with gateway(batch, revision=9) as address, pytest.raises(MissingToolError, match=words):
        Store(address).write_history(tmp_path / "etcd.ndjson")
