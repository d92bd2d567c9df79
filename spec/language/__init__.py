"""The specification language: a protocol is a class, traced once to a tree that every judge reads.

Public names are re-exported here; authors of protocols import from nowhere else. The meaning of the language
is the plain interpreter in ``models/interpreted``.
"""

from inspect import ismodule as _is_module
from typing import Self, TypeAlias

from tidemark.spec.language.declare import (
    HelpfulCase,
    Measure,
    action,
    anything,
    assumption,
    constant,
    everywhere,
    helpful,
    initially,
    invariant,
    leads_to,
    lemma,
    option,
    other_parameters,
    rank,
    reachable,
    removed,
    transition_invariant,
)
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import Protocol, require, resolve, when
from tidemark.spec.language.quantifiers import count, each, exists, forall, greatest, least
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Guard, Property, Spec
from tidemark.spec.language.terms import all_of, any_of, implies, ite, maximum, minimum, one_of, plain
from tidemark.spec.language.types import BOOL as Bool
from tidemark.spec.language.types import Enum, Int, Map, Nat, Set, Sort

__all__ = [name for name, value in sorted(globals().items()) if name[0] != "_" and not _is_module(value)]
