"""What stands before a run: the package, the folder, the ports, the place; and the server's settings."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tidemark.checks.observe import launch, server
from tidemark.checks.observe.launch import Place, find_place
from tidemark.checks.observe.package import Package, find_package
from tidemark.checks.observe.processes import Processes
from tidemark.checks.observe.scenarios import SCENARIOS, find_scenario
from tidemark.checks.observe.supervise import STEPS
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError

HERE = Place(why_not="this test wants none")


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """A package whose program and Python do nothing."""
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
