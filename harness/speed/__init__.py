"""How long a recall takes: synthetic stores, what is timed on them, and the record of it."""
