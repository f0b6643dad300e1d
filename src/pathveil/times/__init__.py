"""Public times: the grid of slots, windows of it, and the rules that cut visits into trips."""
