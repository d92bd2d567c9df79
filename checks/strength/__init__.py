"""Does each part of each claim matter?"""
