"""A protocol as formulas: first-order for any size (``encode``), propositional (``finite``)."""
