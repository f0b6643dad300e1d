"""One file for each parser that reads what somebody else wrote."""
