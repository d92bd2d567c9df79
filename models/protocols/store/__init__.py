"""Stores: refinement, programs over the real adapters, a gateway of etcd, mutants."""
