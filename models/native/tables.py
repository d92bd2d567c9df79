"""Updates: the words of the state after a step, and whether the step leaves the instance's bounds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from models.native import scalars
from models.native.codec import Field
from models.native.expressions import Translator
from models.native.scalars import FALSE, TRUE, Val
from spec.language.expr import Apply, Const, Each, Expr, Local, Read, Store, Variable, map_type
from spec.language.fold import select

EACH_COST = 600


class Updater:
    """Writes the updates of one fired step into cells that hold the new words."""

    def __init__(self, translator: Translator) -> None:
        self.translator, self.out = translator, translator.out
        self.cells = [self.out.cell(start=word) for word in translator.before]
        self._outside = self.out.cell("i1", "false")
        self._touched: set[int] = set()
        self.may_leave = False

    def words(self) -> list[str]:
        """The new words; those that no update touched are the old ones."""
        return [
            self.out.get(cell) if number in self._touched else old
            for number, (cell, old) in enumerate(zip(self.cells, self.translator.before, strict=True))
        ]

    def outside(self) -> Val:
        """Does the step leave the bounds?"""
        return scalars.unknown(self.out.get(self._outside, "i1")) if self.may_leave else FALSE

    def _leave_if(self, condition: Val) -> None:
        if condition == FALSE:
            return
        self.may_leave = True
        before = self.out.get(self._outside, "i1")
        self.out.put(self._outside, self.out.op(f"or i1 {before}, {condition.ref}"), "i1")

    def update(self, variable: Variable, expr: Expr) -> None:
        """Set a variable to the value of an expression over the state before."""
        field = self.translator.codec.by_name[variable.name]
        if field.is_map:
            self._table(field, expr)
        else:
            self._put(field, 0, self._index(field, self.translator.scalar(expr)))

    def _index(self, field: Field, value: Val) -> str:
        """The bits of a value; notes if it does not fit."""
        domain = field.value
        fits = scalars.within(self.out, value, domain.low, domain.size)
        self._leave_if(scalars.negate(self.out, fits))
        wide = scalars.widen(self.out, value)
        if domain.low == 0 or not field.bits:
            return wide
        if value.fixed:
            return str(value.low - domain.low)
        return self.out.op(f"sub i64 {wide}, {domain.low}")

    def _put(self, field: Field, number: int, index: str) -> None:
        if not field.bits:
            return
        word, shift = field.places()[number]
        mask = ((1 << field.bits) - 1) << shift
        self._merge(word, str(mask), index if shift == 0 else self._shifted(index, shift))

    def _shifted(self, index: str, shift: int) -> str:
        if index.lstrip("-").isdigit():
            return str((int(index) << shift) & ((1 << 64) - 1))
        return self.out.op(f"shl i64 {index}, {shift}")

    def _merge(self, word: int, mask: str, bits: str) -> None:
        """Replace the masked bits of a new word; bits beside the mask (of a value that does not fit) do no
        harm.
        """
        out, cell = self.out, self.cells[word]
        self._touched.add(word)
        keep = str(((1 << 64) - 1) ^ int(mask)) if mask.isdigit() else out.op(f"xor i64 {mask}, -1")
        kept = out.op(f"and i64 {out.get(cell)}, {keep}")
        if bits == "0":
            out.put(cell, kept)
            return
        out.put(cell, out.op(f"or i64 {kept}, {out.op(f'and i64 {bits}, {mask}')}"))

    def _table(self, field: Field, expr: Expr) -> None:
        match expr:
            case Read(variable=variable) if variable == field.variable:
                return
            case Read():
                self._copied(field, expr)
            case Store(map=source, keys=keys, value=value):
                self._table(field, source)
                self._changed(field, source, keys, value)
            case Each(binders=binders, body=body):
                self._each(field, binders, body)
            case Apply(op="ite", args=(condition, then, other)):
                test = self.translator.scalar(condition)
                self._either(test, lambda: self._table(field, then), lambda: self._table(field, other))
            case _:
                raise TypeError(f"not a map: {expr}")

    def _either(self, test: Val, yes: Callable[[], None], no: Callable[[], None]) -> None:
        if test.fixed:
            (yes if test.high else no)()
            return
        out = self.out
        one, two, end = out.label(), out.label(), out.label()
        out.branch(test.ref, one, two)
        for label, write in ((one, yes), (two, no)):
            out.place(label)
            with self.translator.region():
                write()
            out.jump(end)
        out.place(end)

    def _copied(self, field: Field, source: Expr) -> None:
        kind = map_type(source)
        for number, entry in enumerate(self.translator.instance.entries(kind)):
            keys = tuple(Const(key, value) for key, value in zip(kind.keys, entry, strict=True))
            self._put(field, number, self._index(field, self.translator.derived(select(source, keys))))

    def _changed(self, field: Field, source: Expr, keys: Sequence[Expr], value: Expr) -> None:
        """One entry; a new value at a key outside the instance leaves the bounds."""
        tr = self.translator
        inside, flat = tr.place([tr.scalar(key) for key in keys], field.keys)
        new = tr.scalar(value)
        if inside == FALSE:
            old = tr.derived(select(source, tuple(keys)))
            self._leave_if(scalars.negate(self.out, scalars.equal(self.out, new, old)))
            return
        if inside == TRUE:
            self._write_at(field, flat, new)
            return

        def lost() -> None:
            old = tr.derived(select(source, tuple(keys)))
            self._leave_if(scalars.negate(self.out, scalars.equal(self.out, new, old)))

        self._either(inside, lambda: self._write_at(field, flat, new), lost)

    def _write_at(self, field: Field, flat: Val, value: Val) -> None:
        index = self._index(field, value)
        if not field.bits:
            return
        if flat.fixed:
            self._put(field, flat.low, index)
            return
        out, ones = self.out, (1 << field.bits) - 1
        for run in field.runs:
            offset = flat.ref if run.first == 0 else out.op(f"sub i64 {flat.ref}, {run.first}")
            scaled = offset if field.bits == 1 else out.op(f"mul i64 {offset}, {field.bits}")
            shift = scaled if run.shift == 0 else out.op(f"add i64 {scaled}, {run.shift}")
            if len(field.runs) > 1:
                here = out.op(f"icmp ult i64 {offset}, {run.count}")
                shift = out.op(f"select i1 {here}, i64 {shift}, i64 0")
                unit = out.op(f"select i1 {here}, i64 {ones}, i64 0")
            else:
                unit = str(ones)
            self._merge(run.word, out.op(f"shl i64 {unit}, {shift}"), out.op(f"shl i64 {index}, {shift}"))

    def _each(self, field: Field, binders: Sequence[Local], body: Expr) -> None:
        if field.entries * self.translator.shape.cost(body) <= EACH_COST:
            self._each_unrolled(field, binders, body)
        else:
            self._each_loop(field, binders, body)

    def _each_unrolled(self, field: Field, binders: Sequence[Local], body: Expr) -> None:
        """All entries at once: the new bits of each run are put together before the word is changed."""
        tr = self.translator
        indices = []
        for values in itertools.product(*(tr.values(domain) for domain in field.keys)):
            saved = tr.locals
            tr.locals = {**saved, **{b.name: v for b, v in zip(binders, values, strict=True)}}
            indices.append(self._index(field, tr.scalar(body)))
            tr.locals = saved
        ones = (1 << field.bits) - 1
        for run in field.runs:
            bits, known = "0", 0
            for number in range(run.count):
                index, shift = indices[run.first + number], run.shift + number * field.bits
                if index.lstrip("-").isdigit():
                    known |= (int(index) & ones) << shift
                    continue
                moved = (
                    index if shift == 0 else self.out.op(f"shl i64 {self._cut(field, index, ones)}, {shift}")
                )
                bits = moved if bits == "0" else self.out.op(f"or i64 {bits}, {moved}")
            if known:
                bits = str(known) if bits == "0" else self.out.op(f"or i64 {bits}, {known}")
            mask = ((1 << (run.count * field.bits)) - 1) << run.shift
            self._merge(run.word, str(mask), bits)

    def _cut(self, field: Field, index: str, ones: int) -> str:
        return self.out.op(f"and i64 {index}, {ones}") if self.may_leave and field.bits < 64 else index

    def _each_loop(self, field: Field, binders: Sequence[Local], body: Expr) -> None:
        tr, out = self.translator, self.out

        def nest(depth: int, keys: list[Val]) -> None:
            if depth == len(binders):
                _, flat = tr.place(keys, field.keys)
                self._write_at(field, flat, tr.scalar(body))
                return
            done = out.label()
            with tr.loop(binders[depth], field.keys[depth], done) as step:
                nest(depth + 1, [*keys, tr.locals[binders[depth].name]])
                out.jump(step)
            out.place(done)

        nest(0, [])
