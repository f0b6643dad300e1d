"""How sentences and texts to be copied look on a terminal, and where there is none."""

from io import StringIO

import pytest

from pathveil.cli.console import Copied, _ResultConsole

SENTENCE = "A trajectory is one ordered list of places that a unit visited on one day."


@pytest.mark.parametrize("soft_wrap", [True, False])
def test_a_terminal_breaks_sentences_between_words(soft_wrap):
    shown = StringIO()
    console = _ResultConsole(file=shown, force_terminal=True, width=20, soft_wrap=True)
    console.print(SENTENCE, highlight=False, soft_wrap=soft_wrap)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 20
    assert " ".join(line.strip() for line in lines) == SENTENCE


def test_what_is_copied_is_never_broken_nor_is_a_line_for_a_script():
    shown = StringIO()
    _ResultConsole(file=shown, force_terminal=True, width=20).print(
        Copied(SENTENCE), highlight=False, soft_wrap=True
    )
    _ResultConsole(file=shown, width=20, soft_wrap=True).print(SENTENCE, highlight=False)
    assert shown.getvalue() == f"{SENTENCE}\n{SENTENCE}\n"
