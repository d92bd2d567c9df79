"""Mutants: is each wrong protocol noticed by a named claim?"""
