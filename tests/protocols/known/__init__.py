"""Public models in the specification language. The counts that TLC gives of them stand in ``tests/known``."""
