"""What can go wrong inside the controlled world, and what a simulated process sees when it fails."""


class ScheduledError(Exception):
    """Base class of the errors of this package."""


class ProgramError(ScheduledError):
    """The program under exploration is put together wrongly; the message says what to change. ``place``:
    ``file:line`` of the text that is wrong, where that is known.
    """

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class ClosedWorldError(ScheduledError):
    """The program reached for the real clock, network, randomness, file system or threads."""


class SharedObjectError(ScheduledError):
    """A step of one process woke a task of another one through a Python object that both hold."""


class ProcessDeadError(ScheduledError):
    """Code of a crashed process called the world. Seen only while an execution is being taken down."""


class CallTimeoutError(TimeoutError):
    """The caller of a remote call gave up. The request may take effect, now, later or never."""


class CallUnavailableError(ConnectionError):
    """The destination is down, or went down while it handled the request."""


class StorageFailedError(OSError):
    """A store refused an operation. The operation had no effect."""


class StorageUnknownError(OSError):
    """A store operation took effect, but its acknowledgement was lost."""


class SpinError(BaseException):
    """Ends a step of the program that does not suspend. No ``except Exception`` of the program stops it."""
