"""Verbs that change what is remembered: fetch, ask the rules, write in one transaction."""
