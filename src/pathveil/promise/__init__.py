"""What a release promises, to whom, and who vouches for it; derived from public values."""
