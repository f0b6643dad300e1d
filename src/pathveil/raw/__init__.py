"""The raw zone: everything that may touch people's exact data before the gate.

Imported only by `mechanism`, `publishing`, `evaluation` and the command line; import contracts
keep it so. Nothing here prints, logs or raises with a value of the data.
"""
