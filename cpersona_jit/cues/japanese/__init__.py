"""Japanese forms and guards."""
