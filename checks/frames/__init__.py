"""Which claims are frame conditions?"""
