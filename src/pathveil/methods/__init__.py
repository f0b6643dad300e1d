"""How noisy counts become a release: the paper's way, and the calibrated one."""
