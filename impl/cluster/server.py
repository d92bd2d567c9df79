"""The proxies of a cluster for clients, over a connection or as a plain call."""

from collections.abc import Sequence
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.pages import Page
from tidemark.impl.system.connection import Json, RequestRefusedError
from tidemark.impl.system.line_server import Handler
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest

CHANGES = (
    *("create", "alter", "drop", "load", "release", "flush"), *("create_alias", "alter_alias", "drop_alias")
)  # fmt: skip
METHODS = ("now", "describe", "has", "show", *CHANGES, "insert", "delete", "read")


def answers_of(gateways: Sequence[Gateway]) -> Handler:
    """Answers requests to the proxies; each names its proxy, counted from 0."""

    async def handle(method: str, arguments: Json) -> Json:
        return await answer(gateways[int(arguments["proxy"]) % len(gateways)], method, arguments)

    return handle


async def answer(gateway: Gateway, method: str, given: Json) -> Json:
    """Answer one request. Raises the errors of the gateway, and ValueError for a bad request."""
    match method:
        case "now":
            return {"ts": await gateway.now()}
        case "describe":
            found = await gateway.describe(given["collection"])
            return {"version": found.version, "schema": found.schema, "channels": list(found.channels)}
        case "has":
            return {"there": await gateway.has(given["collection"])}
        case "show":
            return {"collections": list(await gateway.show())}
        case "insert":
            rows = [(int(key), str(value)) for key, value in given["rows"]]
            version = given.get("version")
            return {"ts": await gateway.insert(given["collection"], rows, version=version)}
        case "delete":
            return {"ts": await gateway.delete(given["collection"], given["keys"])}
        case "read":
            reply = await gateway.read(
                given["collection"],
                ConsistencyLevel(given["level"]),
                keys=given["keys"],
                client_ts=given["ts"],
                nearest=Nearest(*given["nearest"]) if given.get("nearest") else None,
                page=Page(**given["page"]) if given.get("page") else None,
            )
            return {"rows": list(reply.rows), "guarantee": reply.guarantee, "moments": reply.moments}
    if method not in CHANGES:
        raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")
    names = [given[key] for key in ("alias", "collection") if key in given]
    options = {key: given[key] for key in ("shards", "schema") if key in given}
    ts = await getattr(gateway, method)(*names, **options)
    return {} if ts is None else {"ts": ts}


class LocalConnection:
    """A client's connection to a proxy of its own process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        try:
            return await answer(self._gateway, method, arguments)
        except ImplementationError as failure:
            raise RequestRefusedError(type(failure).__name__, str(failure)) from failure

    async def close(self) -> None:
        """Do nothing."""
