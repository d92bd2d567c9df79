"""Actions as TLA+ operators, and the next-state relation."""

from tidemark.models.exports.text.layout import Block, after, indented
from tidemark.models.exports.text.out_of_bounds import beyond
from tidemark.models.exports.tla.blocks import bracket, bullets, comment, condition, conjuncts, tuple_of
from tidemark.models.exports.tla.declarations import BEYOND
from tidemark.models.exports.tla.expressions import Writer, junction
from tidemark.spec.language.spec import Action, Spec
from tidemark.spec.language.types import MapType


class Steps:
    """``marks``: some action may change a map outside the instance."""

    def __init__(self, spec: Spec, writer: Writer) -> None:
        self.spec, self.writer = spec, writer
        self.leaving = {action.name: beyond(writer.ranges, action) for action in spec.actions}
        self.marks = any(self.leaving.values())

    def action(self, action: Action) -> Block:
        """Guards, new values, and unchanged variables."""
        names = self.writer.names
        scope: dict[str, str] = {}
        for param in action.params:
            scope[param.name] = names.bind(param, scope)
        head = names.declare(action.name) + (f"({', '.join(scope.values())})" if scope else "")
        parts: list[Block] = []
        for guard in action.guards:
            parts += [condition(self.writer.expr(part, scope), part) for part in conjuncts(guard.expr)]
        written = {variable.name for variable in action.writes}
        for variable, expr in action.updates:
            name = names.declare(variable.name)
            block = (
                self.writer.expr(expr, scope)
                if isinstance(variable.type, MapType)
                else self.writer.closed(expr, scope)
            )
            parts.append(after(f"{name}' = ", block))
        parts += self._mark(action, scope)
        same = [names.declare(v.name) for v in self.spec.variables if v.name not in written]
        if self.marks and not self.leaving[action.name]:
            same.append(BEYOND)
        if same:
            parts.append(after("UNCHANGED ", tuple_of(same)))
        return [*comment(action.description, action.source), f"{head} ==", *indented(bullets(parts)), ""]

    def _mark(self, action: Action, scope: dict[str, str]) -> list[Block]:
        """``beyond'``: did a store change a map at a key outside the instance?"""
        cases: list[Block] = []
        for item in self.leaving[action.name]:
            conditions = [self.writer.closed(part, scope) for part in (*item.conditions, item.differs)]
            kinds, keys = zip(*item.keys, strict=True)
            in_bounds = self.writer.in_bounds(kinds, keys, scope)
            cases.append(junction([[f"~({in_bounds})"], *conditions], "/\\"))
        if not cases:
            return []
        body = cases[0] if len(cases) == 1 else junction([bracket(case) for case in cases], "\\/")
        return [after(f"{BEYOND}' = ", bracket(body))]

    def next(self) -> Block:
        """Any action with any values of its parameters."""
        parts = [self._steps(action) for action in self.spec.actions] or ["FALSE"]
        return ["Next ==", *indented([line for part in parts for line in after("\\/ ", [part])]), ""]

    def _steps(self, action: Action) -> str:
        head, call = self.call(action)
        return f"\\E {head} : {call}" if head else call

    def call(self, action: Action) -> tuple[str, str]:
        """The binders of its parameters, and the action applied to them."""
        heads, scope = self.writer.bind(action.params, {})
        name = self.writer.names.declare(action.name)
        given = [scope[param.name] for param in action.params]
        return ", ".join(heads), f"{name}({', '.join(given)})" if given else name
