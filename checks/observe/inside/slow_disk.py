"""Runs a program on a disk that takes longer to flush.

The kernel shows us each call that waits for the disk (``fsync`` and its like) before it does it: a seccomp
filter with a listener, which needs no rights. We let some time pass and let the kernel go on. Calls wait one
after the other, as on one disk. Nothing else changes: no call fails, no data is touched, and reading is not
slowed.

The file CONTROL holds the milliseconds that a flush takes longer; CONTROL.delayed gets a letter for each
call that was held.

usage: python -m inside.slow_disk CONTROL PROGRAM ARGUMENT...
"""

import ctypes
import errno
import fcntl
import heapq
import os
import platform
import select
import socket
import struct
import sys
import time
from pathlib import Path

_CALLS = {
    "msync": 26,
    "fsync": 74,
    "fdatasync": 75,
    "sync": 162,
    "sync_file_range": 277,
    "syncfs": 306,
}  # of x86_64
_ARCHITECTURE = 0xC000003E
_SECCOMP = 317
_SET_FILTER = 1
_NEW_LISTENER, _WAIT_UNLESS_KILLED = 1 << 3, 1 << 5
_NO_NEW_PRIVILEGES = 38
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE_BYTES = 80
_GO_ON = 1


def program_filter() -> bytes:
    """The filter in the kernel's words: a notice for the calls that wait for the disk, nothing for others."""
    numbers = list(_CALLS.values())
    words = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURE), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    words += [(_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    words += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
    return b"".join(struct.pack("HBBI", *word) for word in words)


def listen() -> int:
    """Put the filter on this process; the descriptor that gets the notices. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(program_filter())
    # struct sock_fprog: number of instructions, their address.
    given = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(text) // 8, ctypes.addressof(text)))
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter can be set")
    for flags in (_NEW_LISTENER | _WAIT_UNLESS_KILLED, _NEW_LISTENER):  # the second flag is of Linux 5.19
        found = int(libc.syscall(_SECCOMP, _SET_FILTER, flags, given))
        if found >= 0:
            return found
    raise OSError(ctypes.get_errno(), f"no seccomp listener: {os.strerror(ctypes.get_errno())}")


class Disk:
    """Holds the calls of the program whose notices come from ``listener``."""

    def __init__(self, listener: int, control: Path) -> None:
        self.listener, self.control = listener, control
        self.waiting: list[tuple[float, int]] = []
        self.free_at = 0.0

    def serve(self) -> None:
        """Until the program has ended."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        while True:
            pause = max(0.0, self.waiting[0][0] - time.monotonic()) * 1000 if self.waiting else None
            for _, event in poll.poll(pause):
                if event & select.POLLIN:
                    self._take()
                elif event & (select.POLLHUP | select.POLLERR):
                    return
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                self._go_on(heapq.heappop(self.waiting)[1])

    def _take(self) -> None:
        notice = bytearray(_NOTICE_BYTES)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the caller is gone
                return
            raise
        (number,) = struct.unpack_from("Q", notice)
        longer = self._longer()
        if not longer:
            self._go_on(number)
            return
        self.free_at = max(time.monotonic(), self.free_at) + longer
        heapq.heappush(self.waiting, (self.free_at, number))
        # A letter a call: a kill leaves it whole at any moment.
        with self.control.with_suffix(".delayed").open("ab", buffering=0) as counted:
            counted.write(b"x")

    def _longer(self) -> float:
        try:
            return float(self.control.read_text() or 0) / 1000
        except (FileNotFoundError, ValueError):
            return 0.0

    def _go_on(self, number: int) -> None:
        try:
            fcntl.ioctl(self.listener, _SEND, struct.pack("QqiI", number, 0, 0, _GO_ON))
        except OSError as error:
            if error.errno != errno.ENOENT:  # the caller is gone
                raise


def main() -> None:
    """Become the program; a second process of the same group is its disk."""
    control, command = Path(sys.argv[1]), sys.argv[2:]
    if platform.machine() != "x86_64":
        sys.exit(f"the numbers of the calls are those of x86_64, this is {platform.machine()}")
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        _, found, _, _ = socket.recv_fds(theirs, 1, 1)
        theirs.close()
        if found:
            Disk(found[0], control).serve()
        os._exit(0)
    theirs.close()
    try:
        listener = listen()
    except OSError as error:
        sys.exit(str(error))
    socket.send_fds(ours, [b"x"], [listener])
    os.close(listener)
    ours.close()
    os.execvp(command[0], command)  # noqa: S606 - the command that we were given


if __name__ == "__main__":
    main()
