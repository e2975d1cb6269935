"""Whose memory it is: vaults, banks, agents, keys, audit."""
