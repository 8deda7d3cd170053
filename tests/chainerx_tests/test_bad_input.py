"""Every op refuses at least three kinds of wrong calls, with an error that names what is wrong."""

import re

import pytest
from chainerx_tests.all_ops import function, parameters
from chainerx_tests.wrong_calls import wrong_calls
from op_table import OTHERS, ROWS

NAMES = [row.name for row in ROWS + OTHERS]
CALLS = {name: wrong_calls(name) for name in NAMES}


def _names_what_is_wrong(name, text):
    words = set(re.findall(r'\w+', text))
    return name.rpartition('.')[2] in words or not words.isdisjoint(parameters(name))


@pytest.mark.parametrize('name, kind', [(name, kind) for name in NAMES for kind in CALLS[name]])
def test_wrong_calls(name, kind):
    for error, call in CALLS[name][kind]:
        with pytest.raises(error) as info:
            call()
        text = str(info.value)
        del (
            info
        )  # its traceback would keep this frame, and so the arrays, until the next collection
        assert _names_what_is_wrong(name, text), text


@pytest.mark.parametrize('name', NAMES)
def test_there_are_three_kinds(name):
    calls = CALLS[name]
    kinds = len(calls) - ('own' in calls) + len(calls.get('own', ()))
    assert kinds >= 3, list(calls)


@pytest.mark.parametrize('row', OTHERS, ids=lambda row: row.name)
def test_examples_are_right_calls(row):
    """Calls that are wrong in one argument are made from them."""
    function(row.name)(*row.example())
