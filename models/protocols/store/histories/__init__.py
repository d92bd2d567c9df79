"""The calls of any store, beside what a store of its kind answers if it does one call after the other."""
