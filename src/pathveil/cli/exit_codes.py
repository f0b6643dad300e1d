"""The exit codes of every command, as the code uses them and as people read them."""

OK, ALARM, UNUSABLE, BUG, SIGNALLED = 0, 1, 2, 70, 128

MEANINGS = {
    "0": "done",
    "1": "only `audit`: it raised an alarm",
    "2": "the request or the data can't be used; one message on stderr says why and what to do",
    "70": "a bug of ours; please report it",
    "129, 130, 143": "stopped by a closed terminal, by Ctrl-C, by `kill`",
}
IN_ONE_LINE = ", ".join(
    f"{code} {meaning.partition(';')[0]}" for code, meaning in MEANINGS.items()
).replace("129, 130, 143", "129/130/143")
