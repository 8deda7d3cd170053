import errno
import json
import os

import numpy
import pytest

import chainer
from chainer import serializers, testing, training
from chainer.training import extensions


def make_trainer(out, n_iterations=6, **kwargs):
    trainer = testing.get_trainer_with_mock_updater((n_iterations, 'iteration'), iter_per_epoch=2)
    trainer.out = str(out)
    trainer.updater.serialize = lambda serializer: setattr(
        trainer.updater, 'iteration', serializer('iteration', trainer.updater.iteration)
    )

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        i = trainer.updater.iteration
        chainer.report({'x': float(i), 'y': numpy.array(-i, 'f')})

    trainer.extend(source)
    report = extensions.JsonLinesReport(**kwargs)
    trainer.extend(report)
    return trainer, report


def read(path):
    text = path.read_text()
    assert text == '' or text.endswith('\n')
    return [json.loads(line) for line in text.splitlines()]


def iterations(path):
    return [entry['iteration'] for entry in read(path)]


def test_lines(tmp_path):
    trainer, _ = make_trainer(tmp_path)
    counts = []
    trainer.extend(
        lambda trainer: counts.append(
            len(read(tmp_path / 'log.jsonl')) if trainer.updater.iteration > 1 else 0
        ),
        name='count',
    )
    trainer.run()
    entries = read(tmp_path / 'log.jsonl')
    assert counts == [0, 1, 1, 2, 2, 3]  # each line is there at once
    assert [list(entry) for entry in entries] == [
        ['x', 'y', 'epoch', 'iteration', 'elapsed_time']
    ] * 3
    assert [entry['x'] for entry in entries] == [1.5, 3.5, 5.5]
    assert [entry['y'] for entry in entries] == [-1.5, -3.5, -5.5]
    assert [(entry['epoch'], entry['iteration']) for entry in entries] == [(1, 2), (2, 4), (3, 6)]


def test_options(tmp_path):
    def postprocess(stats):
        stats.update(extra='é', nothing=float('nan'), large=float('-inf'))

    trainer, _ = make_trainer(
        tmp_path,
        keys=['x', 'unknown'],
        trigger=(4, 'iteration'),
        postprocess=postprocess,
        filename='other',
    )
    trainer.run()
    (entry,) = read(tmp_path / 'other')
    assert entry.pop('elapsed_time') > 0
    assert entry == {
        'x': 2.5,
        'epoch': 2,
        'iteration': 4,
        'extra': 'é',
        'nothing': None,
        'large': None,
    }


def test_a_new_training_starts_a_new_file(tmp_path):
    (tmp_path / 'log.jsonl').write_text('old\n')
    make_trainer(tmp_path)[0].run()
    assert iterations(tmp_path / 'log.jsonl') == [2, 4, 6]


@pytest.mark.parametrize('tail', ['', '{"half a li', '{"iteration": 9}\n'])
def test_resume_without_duplicates(tmp_path, tail):
    path = tmp_path / 'log.jsonl'
    trainer, _ = make_trainer(tmp_path)
    trainer.extend(
        extensions.snapshot(filename='s'),
        trigger=training.triggers.ManualScheduleTrigger(3, 'iteration'),
    )
    trainer.run()
    # As if it was killed while a line was written.
    path.write_text(path.read_text() + tail)

    trainer, _ = make_trainer(tmp_path, 7)
    serializers.load_npz(tmp_path / 's', trainer)
    trainer.run()
    entries = read(path)
    assert [entry['iteration'] for entry in entries] == [2, 4, 6]
    assert [entry['x'] for entry in entries] == [1.5, 3.5, 5.5]


def test_resume_with_a_shorter_file(tmp_path):
    path = tmp_path / 'log.jsonl'
    trainer, _ = make_trainer(tmp_path)
    trainer.extend(extensions.snapshot(filename='s'), trigger=(6, 'iteration'))
    trainer.run()
    whole = path.read_text()
    path.write_text(whole[:-10])
    trainer, _ = make_trainer(tmp_path, 8)
    serializers.load_npz(tmp_path / 's', trainer)
    trainer.run()
    assert iterations(path) == [2, 4, 8]

    trainer, _ = make_trainer(tmp_path / 'elsewhere', 8)
    serializers.load_npz(tmp_path / 's', trainer)
    trainer.run()
    assert iterations(tmp_path / 'elsewhere' / 'log.jsonl') == [8]


def test_snapshots_come_after_the_lines_on_the_disk(tmp_path, monkeypatch):
    trainer, report = make_trainer(tmp_path)
    synced = []
    trainer.extend(
        lambda trainer: (
            monkeypatch.setattr(os, 'fsync', synced.append),
            serializers.npz.serialize(report),
            monkeypatch.undo(),
        ),
        name='save',
        trigger=(6, 'iteration'),
        priority=-1,
    )
    trainer.run()
    assert len(synced) == 1


def test_a_failing_write_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / 'log.jsonl'
    trainer, report = make_trainer(tmp_path)
    real = os.write

    def write(fd, data):
        """Writes to a disk that has room for one and a half lines."""
        room = 150 - os.fstat(fd).st_size
        if room <= 0:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return real(fd, data[:room])

    monkeypatch.setattr(os, 'write', write)
    with pytest.raises(OSError, match='No space left'):
        trainer.run(show_loop_exception_msg=False)
    monkeypatch.undo()
    assert iterations(path) == [2]
    assert report._fd is None
