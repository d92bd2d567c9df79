"""Do the implementation and the interpreter agree, step by step?"""
