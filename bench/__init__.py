"""How fast, and in how much memory? Rates as ratios within one run; counts that must be equal.

Nothing imports this package. It may import everything else but the tests.
"""
