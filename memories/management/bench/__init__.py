"""Measures a hub from outside, the way an agent meets it: over HTTP, with a vault of the size asked for.

Nothing here is a test of speed that can fail: machines differ. It prints what it saw beside what is aimed at.
"""
