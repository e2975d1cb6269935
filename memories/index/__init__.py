"""What search reads, made from content: keyed tokens and vectors. Used by writes and by search; ranks nothing."""
