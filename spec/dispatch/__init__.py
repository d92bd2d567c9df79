"""The dispatchers of a physical channel: packs to its virtual channels, slow targets, merges."""

from tidemark.spec.dispatch.proof import Dispatch as Dispatch
