"""The paper's post-processing: constrained inference and the trajectories that it implies."""
