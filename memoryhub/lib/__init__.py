"""The floor of the house: knows no app, no model, no vault."""
