"""The gate: the only place that spends ε. Exact counts come in, a noisy prefix tree goes out."""
