"""How recall grows with the store: latency, memory and quality against rows, and their slopes."""
