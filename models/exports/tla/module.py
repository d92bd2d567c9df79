"""The whole TLA+ module of a protocol, with the configuration of one instance."""

from dataclasses import dataclass

from tidemark.models.exports.text.layout import Block
from tidemark.models.exports.text.names import short_name
from tidemark.models.exports.tla.blocks import comment
from tidemark.models.exports.tla.claims import Claims
from tidemark.models.exports.tla.declarations import Declarations
from tidemark.models.exports.tla.expressions import OPERATORS, Writer
from tidemark.models.exports.tla.steps import Steps
from tidemark.models.instance import Instance
from tidemark.spec.language.spec import Spec


@dataclass(frozen=True)
class TlaModule:
    """A module, and configurations of TLC; that of ``liveness`` is empty without liveness claims."""

    name: str
    text: str
    safety: str
    liveness: str


def to_tla(instance: Instance) -> TlaModule:
    """The protocol as TLA+, with the bounds and constants of the instance. Raises BadInstance."""
    return _Module(instance).module()


class _Module:
    def __init__(self, instance: Instance) -> None:
        self.instance, self.spec = instance, instance.traced()
        assert instance.map_constants is not None  # every constant has a value, or BadInstance
        self.writer = Writer(instance)
        _declare(self.spec, self.writer)
        self.steps = Steps(self.spec, self.writer)
        self.declared = Declarations(instance, self.writer, marks=self.steps.marks)
        self.bounded = bool(self.declared.bounds())
        self.claims = Claims(self.spec, self.writer, self.steps, bounded=self.bounded)

    def module(self) -> TlaModule:
        """Text and configurations."""
        declarations = self.declared.text()
        body: list[Block] = [
            self.declared.initial(),
            *(self.steps.action(action) for action in self.spec.actions),
            self.steps.next(),
            self.claims.fairness(),
            *(self.claims.claim(prop) for prop in self.spec.properties),
        ]
        helpers = [OPERATORS[name] for name in OPERATORS if name in self.writer.used]
        head = [*comment(self.spec.doc), "EXTENDS Integers, FiniteSets, TLC", ""]
        parts = [head, declarations, [*helpers, ""] if helpers else [], *body]
        title = f" MODULE {self.spec.name} "
        lines = [title.center(78, "-"), *(line for part in parts for line in part), "=" * 78]
        return TlaModule(self.spec.name, "\n".join(lines) + "\n", self._safety(), self._liveness())

    def _safety(self) -> str:
        names = self.writer.names
        lines = self._configuration()
        invariants = self.spec.of_kind("invariant", "lemma")
        steps = self.spec.of_kind("transition_invariant")
        if invariants:
            lines += ["INVARIANTS", *(f"  {names.declare(short_name(prop))}" for prop in invariants)]
        if steps:
            lines += ["PROPERTIES", *(f"  {names.declare(short_name(prop))}" for prop in steps)]
        return "\n".join(lines) + "\n"

    def _liveness(self) -> str:
        live = self.spec.of_kind("leads_to")
        if not live:
            return ""
        names = [f"  {self.writer.names.declare(short_name(prop))}" for prop in live]
        return "\n".join([*self._configuration(), "PROPERTIES", *names]) + "\n"

    def _configuration(self) -> list[str]:
        lines = [f"\\* Instance {self.instance.name}: {self.instance.bounds_text()}", "SPECIFICATION Spec"]
        if self.declared.constants:
            lines += [
                "CONSTANTS",
                *(f"  {name} = {value}" for name, value in self.declared.constants.items()),
            ]
        if self.bounded:
            lines.append("CONSTRAINT WithinBounds")
        return [*lines, "CHECK_DEADLOCK FALSE"]


def _declare(spec: Spec, writer: Writer) -> None:
    """The protocol's own names come first, so that they stay unchanged."""
    names = [variable.name for variable in (*spec.constants, *spec.variables)]
    names += [kind.name for kind in spec.types] + [action.name for action in spec.actions]
    for name in (*names, *map(short_name, spec.properties)):
        writer.names.declare(name)
