"""The end of a process's standard input, by which a parent ends its child."""

import asyncio
import sys
import threading


async def standard_input_ended() -> None:
    """Return when the input ends, be it a pipe, a file or a terminal. Its content is ignored."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(ended.set)

    # Not in the loop's executor: a process that ends for another reason would wait for it.
    threading.Thread(target=wait, name="standard input", daemon=True).start()
    await ended.wait()
