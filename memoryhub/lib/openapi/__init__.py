"""The description of the REST API: what a route says of itself, and the finished OpenAPI document.

Pydantic and ninja know the shapes. ``told`` adds what only the route knows (its title, its scope, how it fails),
``shown`` puts a worked example beside a shape, ``Word`` names the vocabulary of a text, and ``document`` puts all of it
together. Nothing here runs when a request is answered.
"""
