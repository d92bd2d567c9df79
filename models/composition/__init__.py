"""What one protocol guarantees, read in the words of another: does the other's step follow from it?"""
