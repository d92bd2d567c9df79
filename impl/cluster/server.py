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

METHODS = (
    *("now", "channels", "describe", "create", "alter", "drop", "load", "release"),
    *("create_alias", "alter_alias", "drop_alias"),
    *("insert", "delete", "flush", "read"),
)


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
        case "channels":
            return {"channels": list((await gateway.describe(given["collection"])).channels)}
        case "describe":
            found = await gateway.describe(given["collection"])
            return {"version": found.version, "schema": found.schema}
        case "create" | "alter" | "drop" | "load" | "release":
            return await _change(gateway, method, given)
        case "create_alias":
            return {"ts": await gateway.create_alias(given["alias"], given["collection"])}
        case "alter_alias":
            return {"ts": await gateway.alter_alias(given["alias"], given["collection"])}
        case "drop_alias":
            return {"ts": await gateway.drop_alias(given["alias"])}
        case "insert":
            rows = [(int(key), str(value)) for key, value in given["rows"]]
            version = given.get("version")
            return {"ts": await gateway.insert(given["collection"], rows, version=version)}
        case "delete":
            return {"ts": await gateway.delete(given["collection"], given["keys"])}
        case "flush":
            return {"ts": await gateway.flush(given["collection"])}
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
    raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")


async def _change(gateway: Gateway, method: str, given: Json) -> Json:
    name = given["collection"]
    match method:
        case "create":
            schema = given.get("schema", "")
            return {"ts": await gateway.create(name, shards=given["shards"], schema=schema)}
        case "alter":
            return {"ts": await gateway.alter(name, schema=given["schema"])}
        case "drop":
            return {"ts": await gateway.drop(name)}
        case "load":
            await gateway.load(name)
        case _:
            await gateway.release(name)
    return {}


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
