"""English forms and guards."""
