"""The command line ``tidemark``: the one place where an error becomes an exit status."""

import io
import json as as_text
import shlex
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import typer

from tidemark.checks.cli.options import WORDS, refuse_repeated
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode
from tidemark.checks.verdicts.explain import explain
from tidemark.models.manifest import ManifestError
from tidemark.models.manifest.folders import make_importable
from tidemark.models.manifest.project import project_manifests

_USAGE = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Never raises, save for what cannot be caught."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not all(map(str.strip, given)):
        return _fail(
            "an argument is empty", remedy="leave it out, or give it a value", code=ExitCode.BAD_INPUT
        )
    try:
        WORDS.set(tuple(given))
        from tidemark.checks.cli.commands import application

        command = typer.main.get_command(application)
        refuse_repeated(command, given)
        status = command(given, prog_name="tidemark", standalone_mode=False)
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except SystemExit as ended:
        # Else it is the text that is judged that calls sys.exit: its number is no status of ours.
        return ExitCode.STOPPED.value if _nobody_reads(ended) else _explained(ended)
    except Exception as error:  # noqa: BLE001  each class of error has its exit status
        return _usage(error) if isinstance(error, _USAGE) else _explained(error)
    if status == _INTERRUPTED:
        again = shlex.join(["tidemark", *given])
        return _fail("stopped", remedy=f"run it again:  {again}", code=ExitCode.STOPPED)
    # Typer's own codes do not collide with ours: no arguments and wrong usage are bad input.
    if status is None:
        return ExitCode.AS_EXPECTED.value
    assert isinstance(status, int)
    return status


def _nobody_reads(error: BaseException | None) -> bool:
    """Whether the output is a pipe whose reader has gone, as in ``tidemark show | head``. Typer and Rich end
    with 1 then, which would say that something is refuted.
    """
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__context__
    return error is not None


def _explained(error: Exception | SystemExit) -> int:
    code, message, remedy = explain(error)
    if code is ExitCode.INTERNAL_ERROR:
        traceback.print_exception(error)
        message, remedy = f"internal error: {message}", "report it with the lines above"
    return _fail(message, remedy=remedy, code=code)


def _usage(error: Exception) -> int:
    context = getattr(error, "ctx", None)
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    if not text or type(error).__name__ == "NoArgsIsHelpError":
        print(text, end="\n" if text else "")
        return ExitCode.BAD_INPUT.value
    text += _given(error, text)
    command = context.command_path if context is not None else "tidemark"
    manifest = next((word for word in WORDS.get() if word.endswith(".toml") and f"({word})" in text), "")
    remedy = f"write  --manifest {manifest}" if manifest else f"see  {command} --help"
    return _fail(text, remedy=remedy, code=ExitCode.BAD_INPUT)


def _given(error: Exception, text: str) -> str:
    """The value that an option was given, if the message about it does not name it."""
    options = getattr(getattr(error, "param", None), "opts", ())
    words = WORDS.get()
    values = [value for option, value in pairwise(words) if option in options and value not in text]
    return f" (it was {values[0]!r})" if values else ""


def _fail(message: str, *, code: ExitCode, remedy: str = "") -> int:
    print(f"tidemark: {message}", file=sys.stderr)
    if remedy:
        print(f"  remedy: {remedy}", file=sys.stderr)
    print(f"exit status {code.value}: {MEANING[code]}", file=sys.stderr)
    if "--json" in WORDS.get():
        print(as_text.dumps({"status": code.value, "error": message, "remedy": remedy}))
    return code.value


def app() -> int:
    """Run the command line of this process.

    Protocols of the present folder are found by name, and those beside the manifests of the project.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with suppress(ManifestError):  # who needs the manifests says what is wrong with them
        for manifest in project_manifests(Path.cwd()):
            make_importable(manifest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without this letter shows a question mark
            stream.reconfigure(errors="replace")
    return run()
