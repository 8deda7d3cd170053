"""Damaged files of every format give documented errors, without a crash, a hang or much memory."""

import pytest
from helpers import file_formats, mutations

COUNT = 30  # of each format


@pytest.fixture(scope='module')
def results():
    pytest.importorskip('h5py')
    pytest.importorskip('PIL')
    return mutations.run(list(file_formats.FORMATS), 0, COUNT)


@pytest.mark.parametrize('name', file_formats.FORMATS)
def test_mutated_files(results, name):
    assert results[name]['failures'] == []
    assert results[name]['read'] + results[name]['refused'] == COUNT
    assert results[name]['refused'] > 0


def test_mutations():
    first = list(mutations.mutations(b'content', 0, 50))
    assert first == list(mutations.mutations(b'content', 0, 50))
    assert first != list(mutations.mutations(b'content', 1, 50))
    assert len(set(first)) > 30
    assert any(mutations.mutations(b'', 0, 50))


def test_failures_are_found(monkeypatch):
    # What the child process reports about readers that do the wrong thing.
    code = (
        'import os, signal, time\n'
        'from helpers import file_formats, mutations\n'
        'def crash(path):\n'
        "    if b'x' not in open(path, 'rb').read(): os.kill(os.getpid(), signal.SIGSEGV)\n"
        'def grow(path):\n'
        "    if b'x' not in open(path, 'rb').read(): bytes(1 << 32)\n"
        'def hang(path):\n'
        "    if b'x' not in open(path, 'rb').read(): time.sleep(60)\n"
        'for name, read in dict(grow=grow, hang=hang, crash=crash).items():\n'
        "    file_formats.FORMATS[name] = file_formats.Format(lambda path: b'x', read, ())\n"
        'mutations.main()\n'
    )
    monkeypatch.setattr(mutations, 'CHILD', code)
    results = mutations.run(['grow', 'hang', 'crash'], 0, 20, seconds=0.02)
    assert 'MemoryError' in results['grow']['failures'][0][1]
    assert 'takes more than' in results['hang']['failures'][0][1]
    assert 'exit status -11' in results['crash']['failures'][0][1]
