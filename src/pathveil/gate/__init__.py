"""The gate: the only place that spends ε. Exact counts come in, noisy ones go out."""
