import os

import numpy as np
import pytest

import chainer
from chainer import functions as F, testing
from chainer.training import extensions
from tests.helpers.devices import CHX


@pytest.mark.chainerx
def test_graph_of_chainerx_is_skipped_with_a_warning(tmp_path):
    trainer = testing.training.get_trainer_with_mock_updater()
    trainer.out = str(tmp_path)
    x = chainer.Variable(chainer.get_device(CHX[0]).send(np.ones(2, np.float32)))
    trainer.observation = {'main/loss': F.sum(x * x)}
    with pytest.warns(UserWarning, match='main/loss is not dumped'):
        extensions.DumpGraph('main/loss')(trainer)
    assert os.listdir(tmp_path) == []
