"""Text of one LLVM function, written instruction by instruction."""


class Emitter:
    """Collects the body of a function. A value is named by its text (``%v3``, ``7``)."""

    def __init__(self) -> None:
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def op(self, text: str) -> str:
        """An instruction with a result; gives the result's name."""
        name = self._fresh("%v")
        self._lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self._lines.append(f"  {text}")

    def cell(self, kind: str = "i64", start: str | None = None) -> str:
        """A mutable local (becomes a register), set here to ``start``."""
        name = self._fresh("%m")
        self._allocas.append(f"  {name} = alloca {kind}")
        if start is not None:
            self.put(name, start, kind)
        return name

    def get(self, cell: str, kind: str = "i64") -> str:
        """Value of a mutable local."""
        return self.op(f"load {kind}, ptr {cell}")

    def put(self, cell: str, value: str, kind: str = "i64") -> None:
        """Set a mutable local."""
        self.do(f"store {kind} {value}, ptr {cell}")

    def label(self) -> str:
        """A new label, to be placed later."""
        return self._fresh("b")

    def place(self, label: str) -> None:
        """The next instructions stand at ``label``."""
        self._lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        """Jump to ``label``."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        """Branch to one of two labels."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{weights}")

    def element(self, base: str, index: str, kind: str = "i64") -> str:
        """Address of an element of an array."""
        return self.op(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")

    def load(self, base: str, index: str, kind: str = "i64") -> str:
        """Value of an element of an array."""
        return self.op(f"load {kind}, ptr {self.element(base, index, kind)}")

    def store(self, value: str, base: str, index: str, kind: str = "i64") -> None:
        """Set an element of an array."""
        self.do(f"store {kind} {value}, ptr {self.element(base, index, kind)}")

    def function(self, head: str) -> str:
        """The whole function with the given head (``define ...``)."""
        return "\n".join([f"{head} {{", "entry:", *self._allocas, *self._lines, "}", ""])
