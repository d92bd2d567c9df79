"""Are the claims true in every state of a bounded instance?"""
