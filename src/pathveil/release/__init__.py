"""What is published: integer counts, trajectories, the bundle and its certificate."""
