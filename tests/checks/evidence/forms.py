"""Forms in which people hand over lines: packed, in archives, wrapped by collectors, exported as tables."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow as pa

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda text: text,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
    "utf-16": lambda text: text.decode().encode("utf-16"),
    "mark of order": lambda text: b"\xef\xbb\xbf" + text,
    "no last end": lambda text: text[:-1],
    "of Windows": lambda text: text.replace(b"\n", b"\r\n"),
    "tar": lambda text: archived({"../m/a.log": text}),
    "tar.xz": lambda text: archived({"a": text}, "w:xz"),
    "zip of tar.gz": lambda text: zipped({"m/a.tgz": archived({"a.gz": gzip.compress(text)}, "w:gz")}),
}


def archived(files: dict[str, bytes], mode: str = "w") -> bytes:
    """With a link among the files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload] # any mode
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("m/link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return made.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def text(lines: list[Any]) -> bytes:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines).encode()


Form = Callable[[list[str]], bytes]


def each(wrap: Callable[[str], str]) -> Form:
    return lambda lines: text([wrap(one) for one in lines])


def docker(entry: str) -> str:
    return json.dumps({"log": f"{entry}\n", "stream": "stdout", "time": "2023-11-14T22:13:20.1Z"})


def zap(entry: str) -> str:
    """The same entry as ``log.format: json`` has it."""
    stamp, level, caller, message, *rest = entry[1:-1].split("] [")
    fields = dict(one.partition("=")[::2] for one in rest)
    values = {
        name: json.loads(value) if value[:1] in '"0123456789' and "/" not in value else value
        for name, value in fields.items()
    }
    head = {"level": level, "time": stamp, "caller": caller, "message": message.strip('"')}
    return f"{json.dumps(head)[:-1]}, {json.dumps(values)[1:]}"  # a name may come twice


def iso(entry: str) -> str:
    stamp = entry[1:31]
    return zap(entry).replace(stamp, stamp.replace("/", "-").replace(" +00:00", "Z"), 1)


def journald(entry: str) -> str:
    return json.dumps(
        {"MESSAGE": [*entry.encode()], "_PID": "17", "__REALTIME_TIMESTAMP": "1700000000000000"}
    )


def table(lines: list[str], delimiter: str = ",") -> bytes:
    """As Grafana exports it."""
    made = io.StringIO()
    rows = csv.writer(made, delimiter=delimiter)
    rows.writerow(["Time", "labels", "Line", "tsNs", "id"])
    for number, entry in enumerate(lines):
        rows.writerow(
            [f"2023-11-14 22:13:{number:02}", '{"pod":"m-0"}', entry, f"17000{number:014}", f"{number}_x"]
        )
    return made.getvalue().encode()


def loki_server(lines: list[str]) -> bytes:
    values = [[str(number), entry] for number, entry in enumerate(lines)]
    data = {"resultType": "streams", "result": [{"stream": {"pod": "m-0"}, "values": values}]}
    return json.dumps({"status": "success", "data": data}, indent=2).encode()


FORMS: dict[str, Form] = {
    "docker": each(docker),
    "compose and zap": each(lambda entry: f"\x1b[36mmilvus-standalone  |\x1b[0m {zap(entry)}"),
    "docker of zap": each(lambda entry: docker(zap(entry))),
    "zap with another time": each(iso),
    "journald": each(journald),
    "loki": each(lambda entry: json.dumps({"labels": {"pod": "m-0", "container": "milvus"}, "line": entry})),
    "loki's server": loki_server,
    "grafana": lambda lines: json.dumps([{"line": one, "fields": {"pod": "m"}} for one in lines]).encode(),
    "csv": table,
    "csv with semicolons": lambda lines: table(lines, ";"),
    "two on a line": lambda lines: text([lines[0] + lines[1], *lines[2:]]),
    "beside etcd": lambda lines: text([f"milvus | {one}\netcd | {ETCD}" for one in lines]),
}  # fmt: skip
ETCD = '{"level":"info","ts":"2023-11-14T22:13:20.1Z","caller":"etcdserver/server.go:1","msg":"applied"}'
