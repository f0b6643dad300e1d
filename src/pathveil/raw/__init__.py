"""The raw zone: everything that may touch people's exact data before the gate.

Read by `gate`, `publishing`, `audit` (of people who are made up), `trials` and the command line;
import contracts keep out all that sees releases. Nothing here prints, logs or raises with a value
of the data.
"""
