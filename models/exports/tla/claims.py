"""Properties and fairness as TLA+."""

from collections.abc import Iterable

from tidemark.models.exports.text.layout import Block, closed, headed, indented, joined
from tidemark.models.exports.text.names import short_name
from tidemark.models.exports.tla.blocks import bracket, bullets, comment
from tidemark.models.exports.tla.expressions import Writer, junction
from tidemark.models.exports.tla.steps import Steps
from tidemark.spec.language.expr import Expr, Quantified
from tidemark.spec.language.spec import Action, Property, Spec


class Claims:
    """``bounded``: there are states outside the bounds, about which the claims say nothing."""

    def __init__(self, spec: Spec, writer: Writer, steps: Steps, *, bounded: bool) -> None:
        self.spec, self.writer, self.steps, self.bounded = spec, writer, steps, bounded

    def fairness(self) -> Block:
        """``Spec`` without fairness, and the fairness of all actions."""
        parts = self._fair(self.spec.actions)
        lines = ["Spec == Init /\\ [][Next]_vars", ""]
        if not parts:
            return lines
        note = "Fairness is meant for each action with each value of its parameters."
        return [*lines, f"\\* {note}", "Fairness ==", *indented(bullets(parts)), ""]

    def _fair(self, actions: Iterable[Action]) -> list[Block]:
        found: list[Block] = []
        for action in actions:
            if action.fairness == "none":
                continue
            head, call = self.steps.call(action)
            text = f"{'SF' if action.fairness == 'strong' else 'WF'}_vars({call})"
            found.append([f"\\A {head} : {text}" if head else text])
        return found

    def claim(self, prop: Property) -> Block:
        """One property as a definition."""
        name = self.writer.names.declare(short_name(prop))
        words = comment(prop.description, prop.source)
        match prop.kind:
            case "invariant" | "lemma":
                return [*words, *headed(f"{name} ==", self._guarded(prop.expr)), ""]
            case "transition_invariant":
                expr = (
                    Quantified(prop.expr.type, "forall", prop.params, prop.expr) if prop.params else prop.expr
                )
                body = self._guarded(expr, primed=True)
                return [*words, *headed(f"{name} ==", closed("[][", body, "]_vars")), ""]
            case "reachable":
                return [
                    *comment(f"Witness, must be violated: {prop.description}", prop.source),
                    *self._witness(name, prop),
                    "",
                ]
        return [*words, *self._leads_to(name, prop), ""]

    def _guarded(self, expr: Expr, *, primed: bool = False) -> Block:
        """The claim, limited to states within the bounds: TLC may evaluate it before it drops the others."""
        if not self.bounded:
            return self.writer.expr(expr, {})
        bounds = "WithinBounds'" if primed else "WithinBounds"
        return headed(f"{bounds} =>", self.writer.closed(expr, {}))

    def _witness(self, name: str, prop: Property) -> Block:
        action = self.spec.action(prop.after)
        heads, scope = self.writer.bind(action.params, {})
        given = [scope[param.name] for param in action.params]
        call = self.writer.names.declare(action.name) + (f"({', '.join(given)})" if given else "")
        within = [["WithinBounds'"]] if self.bounded else []
        body = junction([[call], *within, self.writer.closed(prop.expr, scope)], "/\\")
        inner = headed(f"\\E {', '.join(heads)} :", body) if heads else body
        return headed(f"{name} ==", closed("[][~(", inner, ")]_vars"))

    def _leads_to(self, name: str, prop: Property) -> Block:
        heads, scope = self.writer.bind(prop.params, {})
        premise, goal = self.writer.closed(prop.premise, scope), self.writer.closed(prop.expr, scope)
        claim = joined([premise, goal], "~>")
        if heads:
            claim = headed(f"\\A {', '.join(heads)} :", claim)
        fair = [action for action in self.spec.actions if action.name not in prop.without]
        assumed = self._fair(fair)
        lines: Block = []
        assumption = "Fairness"
        if prop.without and len(assumed) != len(self._fair(self.spec.actions)):
            assumption = self.writer.names.declare(f"Fairness_of_{name}")
            lines = [f"{assumption} ==", *indented(bullets(assumed or [["TRUE"]])), ""]
        if not assumed:
            return [*lines, *headed(f"{name} ==", claim)]
        return [*lines, *headed(f"{name} ==", headed(f"{assumption} =>", bracket(claim)))]
