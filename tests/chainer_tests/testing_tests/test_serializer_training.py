import numpy
import pytest

import chainer
from chainer import testing


def make_link():
    link = chainer.Link()
    with link.init_scope():
        link.W = chainer.Parameter(numpy.random.uniform(size=(2, 3)).astype('f'))
    return link


@pytest.mark.parametrize('copy', [testing.save_and_load_npz, testing.save_and_load_hdf5])
def test_save_and_load(copy):
    src, dst = make_link(), make_link()
    copy(src, dst)
    numpy.testing.assert_array_equal(src.W.array, dst.W.array)


def test_save_and_load_arguments():
    calls = []
    testing.save_and_load(
        1,
        2,
        'name',
        lambda path, obj: calls.append((path, obj)),
        lambda path, obj: calls.append((path, obj)),
    )
    (path, src), (path2, dst) = calls
    assert path == path2
    assert path.endswith('name')
    assert (src, dst) == (1, 2)


def test_mock_trainer(tmp_path):
    called = []

    def extension(trainer):
        updater = trainer.updater
        called.append(
            (
                updater.iteration,
                updater.epoch,
                updater.epoch_detail,
                updater.previous_epoch_detail,
                updater.is_new_epoch,
            )
        )

    extension.trigger = 1, 'iteration'
    trainer = testing.get_trainer_with_mock_updater(
        (4, 'iteration'), iter_per_epoch=2, extensions=[extension]
    )
    trainer.out = str(tmp_path)
    assert isinstance(trainer, chainer.training.Trainer)
    assert trainer.updater.iteration == 0
    trainer.run()
    assert called == [
        (1, 0, 0.5, 0, False),
        (2, 1, 1, 0.5, True),
        (3, 1, 1.5, 1, False),
        (4, 2, 2, 1.5, True),
    ]
    assert trainer.updater.update_core.call_count == 4


def test_mock_trainer_epochs(tmp_path):
    trainer = testing.get_trainer_with_mock_updater((2, 'epoch'), iter_per_epoch=3)
    trainer.out = str(tmp_path)
    trainer.run()
    assert trainer.updater.iteration == 6
    assert testing.training.is_available()
