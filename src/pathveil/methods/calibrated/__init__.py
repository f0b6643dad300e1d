"""The calibrated method: from noisy measurements to trajectories, and how far they may be off."""
