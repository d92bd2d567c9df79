"""How a result is shown: console table, JSON, JUnit, a self-contained HTML page, counterexample bundles."""
