"""From a traced protocol to LLVM text: expressions, updates, actions, the whole module."""
