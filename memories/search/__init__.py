"""Verbs that find things; they change nothing."""
