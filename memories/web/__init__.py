"""Pages about memories: a view asks for one thing, its context module arranges it, one template draws it."""
