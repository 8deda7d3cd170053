"""Every op refuses at least three kinds of wrong calls, with an error that names what is wrong."""

import re

import pytest
from chainerx_tests.all_ops import ELSEWHERE, ROWS, SIGNATURES, parameters
from chainerx_tests.wrong_calls import EXAMPLES, OWN, wrong_calls

NAMES = list(SIGNATURES)
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


def test_there_are_no_other_examples():
    assert set(EXAMPLES) == set(ELSEWHERE)
    assert set(OWN) <= set(NAMES)
    assert len({row.name for row in ROWS}) == len(ROWS)
