"""Does a protocol say what was reviewed?"""
