"""What an operator may set: one checked model, and the places that values come from."""
