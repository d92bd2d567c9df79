"""Is a property true for any size? Proof obligations, bounded runs, suggested lemmas."""
