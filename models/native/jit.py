"""LLVM text to machine code, kept as object files so that a second process starts warm."""

from __future__ import annotations

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
    """Where compiled kernels are kept: ``$TIDEMARK_KERNELS``, else ``build/kernels`` of the source tree,
    else a temporary one.
    """
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


def _machine() -> Any:
    """A new one each time: an execution engine takes it over."""
    target = _target()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2, codemodel="jitdefault", jit=True
    )


def _optimised(text: str) -> bytes:
    machine = _machine()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise NativeError(
            f"the generated kernel is not valid ({str(error).strip()}); report this protocol"
        ) from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def digest_of(text: str) -> str:
    """Name of the compiled form of a text: it depends on the text, the compiler and the processor."""
    parts = (text, llvmlite.__version__, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Library:
    """The functions of some compiled texts, which may call each other. ``warm`` tells whether all of the code
    was found on disk.
    """

    def __init__(self, texts: Sequence[str], folder: Path | None = None) -> None:
        where = folder if folder is not None else kernel_folder()
        self.warm = True
        machine = _machine()
        empty = llvm.parse_assembly("")
        empty.triple = machine.triple
        self._engine = llvm.create_mcjit_compiler(empty, machine)
        for text in texts:
            digest = digest_of(text)
            data = _stored(where / f"{digest}.o")
            if data is None:
                data, self.warm = _optimised(text), False
                _keep(where, digest, text, data)
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


def _keep(folder: Path, digest: str, text: str, data: bytes) -> None:
    """Write under a temporary name and rename, so that other processes see all or nothing. A full disk
    costs only speed.
    """
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (
            (f"{digest}.ll", text.encode()),
            (f"{digest}.o", hashlib.sha256(data).digest() + data),
        ):
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=name)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).replace(folder / name)
