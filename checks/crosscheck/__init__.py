"""Independent confirmation: other model checkers run the exports and must come to the same results."""
