"""Answers every HTTP request with a text: what Prometheus asks for."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

HEAD = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\r\n"


async def serve_text(text: Callable[[], str]) -> asyncio.Server:
    """Listen at a free port of the loopback interface, and answer with the present text."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write((HEAD + text()).encode())
            await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)
