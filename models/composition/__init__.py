"""The guarantees of one protocol in the words of another: does the other's step follow from them?"""
