"""The raw area: everything that may touch people's exact data before the gate.

Imported by `gate`, `publishing`, `rehearsal` and `audit` (of people who are made up), `trials` and
`cli`; import contracts keep out all that sees releases. Nothing here prints, logs or
raises with a value of the data.
"""
