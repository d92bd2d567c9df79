"""Methods that mean nothing, as texts: ``KIND: BODY``, then ``-> PROBLEM | REMEDY``.

``KIND(PARAMETERS)`` where a method of that kind takes others. The error must name the line of the body, of
several the one with ``# here``; in ``OF_THE_METHOD`` it names the line of the ``def``. In ``OF_A_CLASS`` the
kind is a base of the class, or the body is a value.
"""

import re
from typing import Any

from tests.protocols.misuse.base import CASES, Base, Case, trace
from tidemark.spec import language

BASES = {"Base": Base, "Protocol": language.Protocol}
PARAMETERS = {"transition_invariant": "before, after"}
OF_THE_METHOD = """
invariant: return s.place >= 0
-> is always true by type | Say something that can be false
invariant: return forall(
        s.Node,
        lambda n: any_of(s.phase[n] == "growing", s.phase[n] == "sealed", s.phase[n] == "flushed"),
    )
-> is always true by type | Say something that can be false
invariant: return implies(s.done & s.STRICT, s.STRICT | (s.place == 1))
-> is always true by type | Say something that can be false
transition_invariant: return maximum(before.place, after.place) >= 0
-> is always true by type | Say something that can be false
leads_to: return s.place < 0, s.done
-> the premise of base.odd is never true | Say when it applies
leads_to: return s.done, s.done | (s.place == 0)
-> is always true by type | can be false
action: require(s.done)
-> changes nothing | Assign a state variable or delete it
action: s.place = s.place + 0
-> changes nothing | Assign a state variable or delete it
action: s.done = True
    return s.place == 0
-> the action odd returns a value | a guard is require(...)
invariant: pass
-> odd returns nothing | Return a condition
invariant: return s.place
-> odd returns a Place where a condition is expected | brackets
leads_to: return s.done
-> odd returns no pair | (premise, conclusion)
action(s, node): s.done = True
-> the parameter 'node' without a type | Annotate it
action(s, node: int): s.done = True
-> the parameter 'node' of the type int, which is none of the protocol's | Annotate it
action(s, keys: Map[Place, Bool]): s.done = True
-> the parameter 'keys' of the type Map[Place, Bool] | Annotate it
action(s, place: Place=0): s.done = True
-> that a step cannot choose | Annotate it
action(s, p_0: Place): s.done = True
-> kept for bound variables | Annotate it
invariant(s, place: Place): return s.seen[place]
-> odd has the parameter 'place' | forall(Domain
transition_invariant(s): return s.done
-> odd takes one state only | before, after
assumption: return s.place == 0
-> speaks about the state (place) | An assumption is about constants
"""
OF_A_LINE = """
action: s.STRICT = False
-> an assignment to the constant STRICT | Declare it as state
action(s, node: Node): s.log[s.place] = node
-> an assignment to the constant log | Declare it as state
invariant: s.seen[0] = True  # here
    return s.done
-> an assignment to seen in a property | Only actions assign
action: forall(s.Place, lambda p: require(s.seen[p]))  # here
    s.done = True
-> require inside a quantifier | require(forall(
action: old = s.seen
    s.seen[0] = True
    old[1] = True  # here
-> through an old copy | s.seen[...] = ...
action: both = ite(s.done, s.seen, s.seen)
    both[0] = True  # here
-> an entry of this map cannot be assigned | state variables in actions only
action: del s.seen[0]
-> cannot be deleted | Maps are total
action: require(s.place < 0)  # here
    s.done = True
-> of odd is false by type | Correct or delete it
action(s, node: Node): require((s.phase[node] == "sealed") & (s.phase[node] == "flushed"))  # here
    s.done = True
-> is false by type | Correct or delete it
invariant: with when(s.done):  # here
        return s.place == 0
-> when outside an action | ite(condition, a, b) or implies(a, b)
action: s.seen = each(s.Place, lambda p: when(s.done))
-> when inside a quantifier | ite(condition, a, b)
action: when(s.done)  # here
    s.place = 1
-> a when in odd that nothing is put under | with when(condition):
invariant: return s.done and s.place == 0
-> no truth value | & | ~ for and, or, not
invariant: return (s.place == 0) or s.done
-> no truth value | & | ~ for and, or, not
invariant: return not s.done
-> no truth value | for and, or, not
invariant: return s.place in s.seen
-> 'in' cannot be asked | s.members[x]
invariant: return forall(s.Node, lambda n: s.phase[n] in ("sealed", "flushed"))
-> no truth value | one_of(x, a, b)
invariant: return 0 < s.place < 5
-> no truth value | split a chained comparison
action: s.place = min(s.place, 3)
-> no truth value | minimum and maximum for min and max
invariant: return any_of(*(x for x in s.seen))
-> cannot be iterated | forall, exists
invariant: return len(s.seen) == 0
-> no length | count(Domain
invariant: return s.seen(s.place)
-> a symbolic value is called | square brackets
action(s, node: Node): s.phase[node] = "seald"
-> Phase has no member 'seald' | Did you mean 'sealed'? Its members are growing, sealed, flushed
action(s, node: Node): s.phase[node] = ite(s.done, "x", "sealed")
-> Phase has no member 'x' | Its members are
invariant: return s.plase == 0
-> no variable 'plase' | Did you mean 'place'?
action: s.plase = 1
-> no variable 'plase' | Did you mean 'place'?
action: s.step = 1
-> step is not a state variable | Declare it in the class body with a type
invariant: return s.place.value == 0
-> a Place has no attribute 'value' | s.map[key]
invariant: require(s.done)  # here
    return s.done
-> require outside an action | @action only
action: s.seen = each(s.Node, lambda n: True)
-> each(Node, ...) where a Map[Place, Bool] is expected | each(Place, ...)
action: s.place = each(s.Place, lambda p: p)
-> each(Place, ...) where a Place is expected | Assign it to a map
invariant: return forall(s.Place, s.Node, lambda p: s.seen[p])
-> 2 domains for a body with 1 arguments | lambda s, p
invariant: return forall(s.place, lambda p: s.seen[p])
-> is not a domain | declared Sort
invariant: return forall(s.Place, s.done)
-> a quantifier without a body | forall(Domain, lambda
action: s.place = least(s.Node, lambda n: s.phase[n] == "sealed", default=0)
-> least over Node | Take a Nat
action: s.depth = least(s.Depth, lambda d: d == s.depth, default=0)
-> least over Depth | Take a Nat
action: s.depth = greatest(s.Depth, lambda d: d == s.depth, upto=3, default=0)
-> greatest over Depth | Take a Nat
action: s.place = least(s.Place, lambda p, q: s.seen[p], default=0)
-> 1 domains for a body with 2 arguments | lambda
invariant: return count(s.Place, lambda p: p) == 0
-> a Place where a condition is expected | brackets
invariant: return s.place <= s.ticks
-> a Ticks where a Place is expected | Numbers of different names do not mix
action: s.ticks = s.ticks + s.place
-> a Place where a Ticks is expected | Numbers of different names do not mix
action: s.seen[s.ticks] = True
-> a Ticks where a Place is expected | Numbers of different names do not mix
invariant: return s.done & s.place == 0
-> a Place where a condition is expected | put brackets round each comparison
action: s.place = s.done
-> a Bool where a Place is expected | Give a value of type Place
action: s.seen = True
-> True where the map Map[Place, Bool] is expected | each(Place, lambda
action: s.phase = "sealed"
-> 'sealed' where the map Map[Node, Phase] is expected | each(Node, lambda
action: s.seen = []
-> [] where the map | each(Place, lambda
action: s.place = {}
-> {} is not a value of the language | a log a Map
action: s.place = 1.5
-> 1.5 is not a value of the language | Use a state variable
action: s.place = s.place / 2
-> a division with a fraction | //
invariant: return s.log[s.place] == 0
-> a Nat where a Node is expected | no literals
invariant: return forall(s.Node, s.Node, lambda a, b: a <= b)
-> elements of the opaque sort Node have no order | == only
action: s.place = s.done + s.done
-> a Bool where a number is expected | Only Nat and Int
action: s.place = s.place * s.place
-> a product of two variables | proofs stay linear
action: s.place = s.place // 0
-> a division by something else than a positive literal | literal above zero
action: s.seen[0, 1] = True
-> 2 keys for Map[Place, Bool] | Give 1
invariant: return s.place[0] == 1
-> a Place is not a map | Only maps have entries
invariant: return ite(s.done, "sealed", "flushed") == "sealed"
-> two values whose type is not known | Compare with a state variable
invariant: return any_of(ite(s.done, "sealed", s.done))
-> the name 'sealed' where a Bool is expected | members of an Enum
invariant: return foral(s.Node, lambda n: s.done)
-> name 'foral' is not defined | Did you mean 'forall'?
invariant: return any_of(*(s.phase[n] == "sealed" for n in s.Node))
-> not iterable | forall(s.Node
"""
OF_A_CLASS = """
Protocol: Place = Nat()
    place: Place
-> Odd.place has no initial value | = anything, = option(value) or = constant()
Base: other: Phase = "open"
-> Phase has no member 'open' | Its members are
Base: other: Place = -1
-> -1 as a value of Place | declare an Int
Protocol: Place = Nat()
    place: "Place" = 0
-> the annotation of Odd.place is the text 'Place' | from __future__ import annotations
Protocol: place: int = 0
-> Odd.place has the Python type int | Bool, Enum, Nat, Int, Sort
Protocol: place: Nat() = 0
-> has a type without a name | Position = Nat()
Protocol: place: Nat = 0
-> has a type without a name | Position = Nat()
Base: step = None
    step = None  # here
-> the name 'step' is given twice | the first one is lost
Base: last: Place = 0
    def last(s): ...  # here
-> the name 'last' is given twice | the first one is lost
Protocol: place: Map[Nat(), Bool] = False
-> has a type without a name | Position = Nat()
Protocol: trace: Bool = False
-> takes a reserved name | another name
Base: Phase = Enum("growing", "other")
-> redefines the type Phase | in the base class only
Base: STRICKT = False
-> Odd.STRICKT sets nothing | Did you mean 'STRICT'?
Base: stepp = None
-> removes 'stepp' | Did you mean 'step'?
Base: LIMIT = option(3)
-> Odd.LIMIT has a value but no type | LIMIT: SomeType
Base: extra = anything
-> Odd.extra has a value but no type | extra: SomeType
Base: other: Map[Place, Bool] = option(False)
-> the map other as an option | = constant()
value: Enum("a", "a")
-> an enumeration with the members ['a', 'a'] | each one once
value: Enum()
-> an enumeration with the members [] | at least one member
value: Map[language.Sort, Bool]
-> the class is no protocol | Derive the class from Protocol
value: Map[Place]
-> a map needs keys and a value | Map[Key, Value]
value: Map[Place, Map[Place, Bool]]
-> cannot be a key or a value of a map | several keys instead
"""
ENTRY = re.compile(r"^(\w+)(?:\((.*?)\))?: (.*?)\n-> (.*?) \| (.*?)$", re.MULTILINE | re.DOTALL)
NAMES = {name: getattr(language, name) for name in language.__all__}
NAMES |= (
    BASES
    | {"language": language}
    | {name: getattr(Base, name) for name in ("Node", "Place", "Ticks", "Depth", "Phase")}
)


def case(entry: re.Match[str], *, of_a_line: bool) -> Case:
    """What an entry says."""
    kind, parameters, body, problem, remedy = entry.groups()
    head = f"def odd({parameters or PARAMETERS.get(kind, 's')}):"
    if kind in BASES:
        head, body = f"class Odd({kind}):", f"'Odd.'\n{body}"
    inner = [f"    {line.removeprefix('    ')}" for line in body.splitlines()]
    lines = [body] if kind == "value" else [head, *inner]
    marked = [number for number, line in enumerate(lines, start=1) if "# here" in line]
    place = f"odd.py:{marked[0] if marked else 2 if of_a_line else 1}"

    def run() -> object:
        scope: dict[str, Any] = dict(NAMES)
        exec(compile("\n".join(lines), "odd.py", "exec", dont_inherit=True), scope)
        if kind in (*BASES, "value"):
            return None
        scope["odd"].__doc__ = "Odd."
        made_by = NAMES[kind]
        return trace(scope["odd"], made_by if kind == "action" else made_by())

    return Case(entry[0].partition("\n-> ")[0], place, run, problem, remedy)


for table in (OF_THE_METHOD, OF_A_LINE, OF_A_CLASS):
    found = list(ENTRY.finditer(table))
    assert len(found) == table.count("\n-> "), "each entry is read"
    CASES.extend(case(entry, of_a_line=table is OF_A_LINE) for entry in found)
