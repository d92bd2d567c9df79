"""LLVM text to machine code, kept as object files so that a second process starts warm."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tidemark.models.native.errors import NativeError
from tidemark.models.rooms import ROOT

_FOLDER = "TIDEMARK_KERNELS"


def kernel_folder() -> Path:
    """``$TIDEMARK_KERNELS``, else ``build/kernels`` of the source tree, else a temporary folder."""
    given = os.environ.get(_FOLDER)
    if given:
        return Path(given)
    if (ROOT / "pyproject.toml").exists() and os.access(ROOT, os.W_OK):
        return ROOT / "build" / "kernels"
    return (
        Path(tempfile.gettempdir()) / f"tidemark-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    )


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


def _machine(*, quick: bool = False) -> Any:
    """A new one each time: an execution engine takes it over."""
    target = _target()
    features = llvm.get_host_cpu_features().flatten()
    level = 0 if quick else 2
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=level, codemodel="jitdefault", jit=True
    )


def _compiled(text: str, *, quick: bool) -> bytes:
    machine = _machine(quick=quick)
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise NativeError(
            f"the generated kernel is not valid ({str(error).strip()}); report this protocol"
        ) from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=0 if quick else 2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def digest_of(text: str, *, quick: bool = False) -> str:
    """Name of the compiled form of a text: it depends on the text, the compiler and the processor."""
    parts = (
        "quick" if quick else "",
        text,
        llvmlite.__version__,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Library:
    """The functions of some compiled texts, which may call each other. ``warm``: all code was found on disk.
    ``quick``: compiled in less time, to slower code.
    """

    def __init__(self, texts: Sequence[str], folder: Path | None = None, *, quick: bool = False) -> None:
        where = folder if folder is not None else kernel_folder()
        self.warm = True
        machine = _machine()
        empty = llvm.parse_assembly("")
        empty.triple = machine.triple
        self._engine = llvm.create_mcjit_compiler(empty, machine)
        for text in texts:
            digest = digest_of(text, quick=quick)
            data = _stored(where / f"{digest}.o")
            if data is None:
                data, self.warm = _compiled(text, quick=quick), False
                _keep(where, digest, data)
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Address of a function."""
        return int(self._engine.get_function_address(name))


def _stored(path: Path) -> bytes | None:
    """The object file with its checksum in front, or None if it is missing or damaged."""
    with suppress(OSError):
        whole = path.read_bytes()
        if hashlib.sha256(whole[32:]).digest() == whole[:32]:
            return whole[32:]
    return None


def _keep(folder: Path, digest: str, data: bytes) -> None:
    """Write under a temporary name and rename. A full disk costs only speed."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=digest)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(temporary).replace(folder / f"{digest}.o")
