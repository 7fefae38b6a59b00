"""How a server behaves: how soon it answers, and what it does when many ask at once."""
