"""Verbs that change whose memory it is; each owns its transaction and leaves an audit row."""
