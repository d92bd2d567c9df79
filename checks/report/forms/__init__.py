"""A counterexample in every form: text, diagram, ITF, reproducer, bundle."""
