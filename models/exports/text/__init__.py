"""What the exports to other languages share: layout, names, ranges of values, steps beyond bounds."""
