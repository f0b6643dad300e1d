"""How much a release is worth: measured against raw data (INTERNAL), or forecast by simulation."""
