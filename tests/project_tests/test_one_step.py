"""The page that follows a training step through the code shows what really runs."""

import doctest
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / 'docs'
TEXT = (DOCS / 'one_step.rst').read_text(encoding='utf-8')
INCLUDED = re.findall(r'literalinclude:: (\S+)\n((?: +:.*\n)+)', TEXT)


def _options(text):
    return dict(re.findall(r':([\w-]+): (.*)', text))


def _python_functions():
    """Pairs of a file and the qualified name of a function or a class."""
    return {
        ((DOCS / file).resolve(), options['pyobject'])
        for file, text in INCLUDED
        if 'pyobject' in (options := _options(text))
    }


@pytest.mark.chainerx
@pytest.mark.skipif(sys.version_info < (3, 11), reason='frames do not name classes')
def test_program_calls_all_python_functions():
    examples = doctest.DocTestParser().get_examples(TEXT)
    *setup, forward, backward, update = [compile(e.source, 'page', 'single') for e in examples]
    names = {}
    for code in setup:
        exec(code, names)
    for code in forward, backward, update:  # the step that is traced is not the first one
        exec(code, names)

    called = set()

    def note(frame, event, arg):
        if event == 'call':
            called.add((Path(frame.f_code.co_filename).resolve(), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        for code in forward, backward, update:
            exec(code, names)
    finally:
        sys.setprofile(None)
    expected = _python_functions()
    assert len(expected) >= 6
    for file, name in expected:
        # The engine may not need the methods of a class, whose module makes the object.
        is_class = '.' not in name and name[0].isupper()
        is_called = any(f == file and (is_class or c == name) for f, c in called)
        assert is_called, f'the step does not call {name} of {file}'


def test_files_and_markers_exist():
    assert len(INCLUDED) >= 10
    for file, text in INCLUDED:
        code, options = (DOCS / file).read_text(encoding='utf-8'), _options(text)
        start = options.get('start-at', '')
        assert code.count(start) > 0, f'{file} has no {start!r}'
        assert options.get('end-before', '') in code[code.find(start) :]
    for name in re.findall(
        r'``((?:chainer|chainerx_cc)/\S+|(?:ops|autograd|python|backends)/\S+)``', TEXT
    ):
        places = DOCS.parent / name, DOCS.parent / 'chainerx_cc' / 'chainerx' / name
        assert any(place.exists() for place in places), f'there is no {name}'
