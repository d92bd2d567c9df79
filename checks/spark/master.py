"""Where Spark runs: the address is read and tried before Spark starts, because Spark waits for minutes."""

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tidemark.checks.verdicts.errors import BadInputError, MissingToolError

_LOCAL = re.compile(r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*[1-9]\d*\s*,\s*[1-9]\d*\s*,\s*[1-9]\d*\s*\]")

CONNECT_SECONDS = 3.0
"""How long one address of a master may take to accept a connection."""


class MalformedMasterError(BadInputError):
    """The text is not the address of a Spark master."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"{url!r} is not a Spark master: {why}",
            remedy=(
                "use local[*], local[4], spark://host:7077 (several: spark://a:7077,b:7077), "
                "yarn or k8s://https://host:6443"
            ),
        )


class UnreachableMasterError(MissingToolError):
    """Nothing answers at the address of the Spark master, or no executor registers there."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the Spark master {url!r} cannot be used: {why}",
            remedy="start it (sbin/start-master.sh, sbin/start-worker.sh), correct --master, or use local[*]",
        )
        self.url = url


@dataclass(frozen=True, kw_only=True)
class Master:
    """An address that has the form of a Spark master."""

    url: str
    hosts: tuple[tuple[str, int], ...] = ()
    """What can be tried with a socket; empty for ``local`` and ``yarn``."""

    @property
    def is_local(self) -> bool:
        """Everything runs inside this process's JVM."""
        return self.url.startswith("local") and not self.url.startswith("local-cluster")

    @property
    def on_loopback(self) -> bool:
        """The driver need not be seen from another machine."""
        return self.url.startswith("local") or (
            bool(self.hosts) and all(_is_loopback(host) for host, _ in self.hosts)
        )


def parse_master(url: str, *, environ: Mapping[str, str] = os.environ) -> Master:
    """Read the address of a master.

    Raises MalformedMasterError: the text has none of the known forms; UnreachableMasterError: ``yarn``
    without a configuration that says where it is.
    """
    if _LOCAL.fullmatch(url) or _LOCAL_CLUSTER.fullmatch(url):
        return Master(url=url)
    if url.startswith("local"):
        raise MalformedMasterError(
            url, "a local master has the form local, local[*], local[N] or local[N,tries]"
        )
    if url == "yarn":
        if not (environ.get("HADOOP_CONF_DIR") or environ.get("YARN_CONF_DIR")):
            raise UnreachableMasterError(url, "neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set")
        return Master(url=url)
    if url.startswith("spark://"):
        addresses = url.removeprefix("spark://").split(",")
        return Master(url=url, hosts=tuple(_address(url, text) for text in addresses))
    if url.startswith("k8s://"):
        return Master(url=url, hosts=(_kubernetes(url),))
    if url.startswith("sc://"):
        raise MalformedMasterError(url, "Spark Connect has no RDDs, which the searches are built on")
    raise MalformedMasterError(url, "it starts with none of local, spark://, yarn, k8s://")


def require_reachable(master: Master) -> None:
    """Return when one address of the master accepts a connection, or when there is none to try.

    Raises UnreachableMasterError: all addresses refused, or did not answer within ``CONNECT_SECONDS`` each.
    """
    failures = []
    for host, port in master.hosts:
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
        except OSError as error:
            failures.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if failures:
        raise UnreachableMasterError(master.url, "; ".join(failures))


def _address(url: str, text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise MalformedMasterError(url, f"{text!r}: {error}") from error
    if not host or port is None or port == 0 or parts.path or parts.username:
        raise MalformedMasterError(url, f"{text!r} is not host:port")
    return host, port


def _kubernetes(url: str) -> tuple[str, int]:
    inner = url.removeprefix("k8s://")
    scheme, separator, rest = inner.partition("://")
    if not separator:
        scheme, rest = "https", inner
    if scheme not in {"http", "https"}:
        raise MalformedMasterError(url, f"{scheme!r} is neither http nor https")
    host_part = rest.rstrip("/")
    has_port = re.search(r":\d+$", host_part) is not None
    return _address(url, host_part if has_port else f"{host_part}:{443 if scheme == 'https' else 80}")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
