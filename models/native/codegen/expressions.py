"""Scalar expressions of the language as LLVM text over packed words."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tidemark.models.instance import Domain
from tidemark.models.native.codegen import scalars
from tidemark.models.native.codegen.reading import StateAccess, literal, span
from tidemark.models.native.codegen.scalars import FALSE, TRUE, Val
from tidemark.models.native.errors import NativeError
from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    Quantified,
    Read,
    Select,
    Store,
    map_type,
    walk,
)
from tidemark.spec.language.fold import select
from tidemark.spec.language.types import BoolType, MapType

UNROLL_COST = 240
UNROLL_COUNT = 24
LAZY_COST = 24
MemoKey = tuple[object, ...]


class Translator(StateAccess):
    """Writes scalar expressions at the present place of a function."""

    def scalar(self, node: Expr) -> Val:
        """The value of a Bool, Enum, number or element."""
        if isinstance(node, Const):
            return literal(node.type, node.value)
        if isinstance(node, Local):
            return self.locals[node.name]
        free = self.shape.free(node)
        key = (id(node), *((name, self.locals[name].ref) for name in sorted(free)))
        return self.once(key, lambda: self._scalar(node))

    def derived(self, node: Expr) -> Val:
        """The value of an expression made here, which no other object keeps alive."""
        self.kept.append(node)
        return self.scalar(node)

    def _scalar(self, node: Expr) -> Val:
        match node:
            case Read(variable=variable, primed=primed):
                return self.entry(self.codec.by_name[variable.name], 0, primed=primed)
            case Select(map=Read(variable=variable, primed=primed), keys=keys):
                return self.looked_up(variable, [self.scalar(key) for key in keys], primed=primed)
            case Select(map=source, keys=keys):
                return self.derived(select(source, keys))
            case Apply():
                return self._apply(node)
            case Quantified():
                return self._count(node) if node.kind == "count" else self._decide(node)
            case Choose():
                return self._choose(node)
        raise TypeError(f"not a scalar: {node}")

    def _apply(self, node: Apply) -> Val:
        out, args = self.out, node.args
        match node.op:
            case "and" | "or":
                return self._junction(node.op, args)
            case "not":
                return scalars.negate(out, self.scalar(args[0]))
            case "implies":
                return self._implies(args[0], args[1])
            case "ite":
                return self._ite(args[0], args[1], args[2])
            case "eq" if isinstance(args[0].type, MapType):
                return self._same_map(args[0], args[1])
            case "eq":
                return scalars.equal(out, self.scalar(args[0]), self.scalar(args[1]))
            case "lt" | "le":
                return scalars.less(out, self.scalar(args[0]), self.scalar(args[1]), strict=node.op == "lt")
        return scalars.arithmetic(out, node.op, self.scalar(args[0]), self.scalar(args[1]))

    def _junction(self, op: str, args: Sequence[Expr]) -> Val:
        """Cheap parts without jumps; an expensive part only where it still matters."""
        absorbing = FALSE if op == "and" else TRUE
        cheap = [arg for arg in args if self.shape.cost(arg) <= LAZY_COST]
        result = scalars.join(self.out, op, [self.scalar(arg) for arg in cheap])
        for arg in args:
            if self.shape.cost(arg) <= LAZY_COST or result == absorbing:
                continue
            if result.fixed:
                result = self.scalar(arg)
            elif op == "and":
                result = self.guarded(result, lambda arg=arg: self.scalar(arg), lambda: FALSE)  # type: ignore[misc]
            else:
                result = self.guarded(result, lambda: TRUE, lambda arg=arg: self.scalar(arg))  # type: ignore[misc]
        return result

    def _implies(self, premise: Expr, conclusion: Expr) -> Val:
        left = self.scalar(premise)
        if left == FALSE:
            return TRUE
        if self.shape.cost(conclusion) > LAZY_COST and not left.fixed:
            return self.guarded(left, lambda: self.scalar(conclusion), lambda: TRUE)
        return scalars.join(self.out, "or", [scalars.negate(self.out, left), self.scalar(conclusion)])

    def _ite(self, condition: Expr, then: Expr, other: Expr) -> Val:
        test = self.scalar(condition)
        if test.fixed:
            return self.scalar(then if test.high else other)
        if max(self.shape.cost(then), self.shape.cost(other)) > LAZY_COST:
            return self.guarded(test, lambda: self.scalar(then), lambda: self.scalar(other))
        return scalars.choose(self.out, test, self.scalar(then), self.scalar(other))

    def guarded(self, test: Val, yes: Callable[[], Val], no: Callable[[], Val]) -> Val:
        """The value of one of two texts, only one of which is executed."""
        out = self.out
        one, two, end = out.label(), out.label(), out.label()
        cells: dict[str, str] = {"i1": out.cell("i1"), "i64": out.cell()}
        out.branch(test.ref, one, two)
        values = []
        for label, make in ((one, yes), (two, no)):
            out.place(label)
            with self.region():
                value = make()
            kind = "i1" if value.truth else "i64"
            out.put(cells[kind], value.ref, kind)
            out.jump(end)
            values.append(value)
        out.place(end)
        kind = "i1" if values[0].truth else "i64"
        return scalars.bounded(out.get(cells[kind], kind), *values)

    def _same_map(self, left: Expr, right: Expr) -> Val:
        for part in itertools.chain(walk(left), walk(right)):
            if isinstance(part, Store):
                self._known_inside(part)
        tests = []
        for keys in self.instance.keys(map_type(left)):
            values = [self.derived(select(side, keys)) for side in (left, right)]
            tests.append(scalars.equal(self.out, *values))
        return scalars.join(self.out, "and", tests)

    def _known_inside(self, node: Store) -> None:
        """A comparison of maps is only taken where it cannot also be a write outside the instance."""
        domains = self.instance.domains(map_type(node).keys)
        in_bounds, _ = self.place([self.scalar(key) for key in node.keys], domains)
        if in_bounds != TRUE:
            raise NativeError(
                f"{self.instance.name}: a map with a changed entry is compared, and its key may lie outside "
                "the bounds; compare the map before the assignment, or entry by entry"
            )

    @staticmethod
    def _unrolled(size: int, cost: int) -> bool:
        return size <= 2 or (size <= UNROLL_COUNT and size * cost <= UNROLL_COST)

    def bound(self, domain: Domain, ref: str) -> Val:
        """A loop's variable as a value of the domain."""
        if isinstance(domain.type, BoolType):
            return scalars.unknown(self.out.op(f"trunc i64 {ref} to i1"))
        return scalars.ranged(ref, *span(domain))

    def values(self, domain: Domain) -> list[Val]:
        """All values of a domain."""
        return [literal(domain.type, value) for value in domain.values]

    def _decide(self, node: Quantified) -> Val:
        op = "and" if node.kind == "forall" else "or"
        return self._decide_from(op, list(node.binders), node.body)

    def _decide_from(self, op: str, binders: list[Local], body: Expr) -> Val:
        if not binders:
            return self.scalar(body)
        first, rest = binders[0], binders[1:]
        domain = self.instance.domain(first.type)
        if self._unrolled(domain.size, self.shape.cost(body) * self.shape.product(*(b.type for b in rest))):
            parts = []
            for value in self.values(domain):
                with self.bind([first], [value]):
                    parts.append(self._decide_from(op, rest, body))
            return scalars.join(self.out, op, parts)
        return self._decide_loop(op, first, domain, lambda: self._decide_from(op, rest, body))

    @contextmanager
    def bind(self, binders: Sequence[Local], values: Sequence[Val]) -> Iterator[None]:
        """Locals with known values; values computed under them stay usable (names differ by value)."""
        saved = self.locals
        self.locals = {**saved, **{b.name: value for b, value in zip(binders, values, strict=True)}}
        try:
            yield
        finally:
            self.locals = saved

    def _decide_loop(self, op: str, binder: Local, domain: Domain, body: Callable[[], Val]) -> Val:
        out = self.out
        unit, absorbing = ("true", "false") if op == "and" else ("false", "true")
        result = out.cell("i1", absorbing)
        done, end = out.label(), out.label()
        with self.loop(binder, domain, done) as step:
            found = body()
            out.branch(found.ref, *((step, end) if op == "and" else (end, step)))
        out.place(done)
        out.put(result, unit, "i1")
        out.jump(end)
        out.place(end)
        return scalars.unknown(out.get(result, "i1"))

    @contextmanager
    def loop(self, binder: Local, domain: Domain, done: str) -> Iterator[str]:
        """A loop over the domain; the body jumps to the yielded label (next value) or out of the loop."""
        out = self.out
        low, high = span(domain)
        cell, head, step = out.cell(start=str(low)), out.label(), out.label()
        out.jump(head)
        out.place(head)
        with self.region({binder.name: self.bound(domain, out.get(cell))}):
            yield step
        out.place(step)
        following = out.op(f"add i64 {out.get(cell)}, 1")
        out.put(cell, following)
        out.branch(out.op(f"icmp sle i64 {following}, {high}"), head, done)

    def _count(self, node: Quantified) -> Val:
        total = 1
        for binder in node.binders:
            total *= self.instance.domain(binder.type).size
        if self._unrolled(total, self.shape.cost(node.body)):
            return self._count_unrolled(node)
        out = self.out
        cell = out.cell(start="0")

        def nest(binders: Sequence[Local]) -> None:
            if not binders:
                out.put(
                    cell, out.op(f"add i64 {out.get(cell)}, {scalars.widen(out, self.scalar(node.body))}")
                )
                return
            done = out.label()
            with self.loop(binders[0], self.instance.domain(binders[0].type), done) as step:
                nest(binders[1:])
                out.jump(step)
            out.place(done)

        nest(node.binders)
        return scalars.ranged(out.get(cell), 0, total)

    def _count_unrolled(self, node: Quantified) -> Val:
        result = scalars.number(0)
        domains = [self.values(self.instance.domain(binder.type)) for binder in node.binders]
        for combination in itertools.product(*domains):
            with self.bind(node.binders, combination):
                one = self.scalar(node.body)
            wide = Val(scalars.widen(self.out, one), one.low, one.high)
            result = scalars.arithmetic(self.out, "add", result, wide)
        return result

    def _choose(self, node: Choose) -> Val:
        domain = self.instance.domain(node.binder.type)
        default = self.scalar(node.default)
        if not self._unrolled(domain.size, self.shape.cost(node.body)):
            return self._choose_by_loop(node, domain, default)
        order = self.values(domain)
        result = default
        for value in reversed(order) if node.kind == "least" else order:
            with self.bind([node.binder], [value]):
                result = scalars.choose(self.out, self.scalar(node.body), value, result)
        return result

    def _choose_by_loop(self, node: Choose, domain: Domain, default: Val) -> Val:
        out = self.out
        result = out.cell(start=default.ref)
        done = out.label()
        with self.loop(node.binder, domain, done) as step:
            found = self.scalar(node.body)
            hit = out.label()
            out.branch(found.ref, hit, step)
            out.place(hit)
            out.put(result, self.locals[node.binder.name].ref)
            out.jump(done if node.kind == "least" else step)
        out.place(done)
        low, high = span(domain)
        return scalars.ranged(out.get(result), min(low, default.low), max(high, default.high))
