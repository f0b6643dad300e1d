"""Releases in the shapes that other tools read: tables, flows on a map, event logs.

All of it is post-processing of what is public already: it sees releases only and costs no budget.
A released trajectory stands for no person, so its number serves as the unit's and the trajectory's
id alike. What was made with injected noise says NOT PRIVATE in every format.
"""
