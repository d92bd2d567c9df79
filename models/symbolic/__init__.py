"""A protocol as formulas: first-order for any size (``encode``), propositional for a bounded instance
(``finite``).
"""
