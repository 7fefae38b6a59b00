"""Whether overflow nodes should also find rows, or only serve to quote them."""
