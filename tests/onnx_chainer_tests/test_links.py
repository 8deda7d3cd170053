"""Every link against onnxruntime."""

import contextlib
import inspect

import numpy as np
import pytest
from helpers import link_table, recurrent_link_table
from helpers.link_row import Row, r
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer

TOKENS = np.array([[1, 4, 2], [3, 0, 4]], 'i')
_BERT = L.BERTConfig(5, 8, 2, 2, 16, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
_GPT2 = L.GPT2Config(5, 8, 8, 2, 2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)

_MORE = [
    Row(lambda: L.BERT(_BERT), (TOKENS,), '', ''),
    Row(lambda: L.GPT2(_GPT2), (TOKENS,), '', ''),
    Row(lambda: L.MultiHeadAttention(8, 2), (r(0, 2, 5, 8),), '', ''),
    Row(lambda: L.MultiHeadAttention(8, 4), (r(0, 2, 5, 8), r(1, 2, 3, 8)), '', ''),
    Row(lambda: L.NStepRNNReLU(2, 2, 3, 0.0), (None, [r(0, 2, 2), r(1, 3, 2)]), '', ''),
    Row(lambda: L.RMSNormalization(3), (r(0, 2, 3),), '', ''),
    Row(lambda: L.SimplifiedDropconnect(3, 2, ratio=0.0), (r(0, 2, 3),), '', ''),
    Row(lambda: L.TransformerEncoderLayer(8, 2, 16, 0.0, F.gelu), (r(0, 2, 5, 8),), '', ''),
    Row(lambda: L.TransformerDecoderLayer(8, 2, 16, 0.0), (r(0, 2, 5, 8), r(1, 2, 3, 8)), '', ''),
]
ROWS = [*link_table.LINKS, *recurrent_link_table.LINKS, *_MORE]

# Why links are not exported, in training or at all.
_RANDOM = 'random'
NOT_IN_TRAINING = {
    'BatchRenormalization': 'statistics',
    'DecorrelatedBatchNormalization': 'eigenvectors',
    'NStepBiGRU': 'dropout',
    'NStepBiLSTM': 'dropout',
    'NStepBiRNNTanh': 'dropout',
}
NEVER = {
    'NegativeSampling': 'random',
    'TheanoFunction': 'Theano is not there',
}
# Models for images are in test_models.py.
MODELS = {'GoogLeNet', *(f'ResNet{n}Layers' for n in (50, 101, 152)), 'VGG16Layers', 'VGG19Layers'}
MODELS |= {'TorchvisionResNet', 'TorchvisionVGG'}


def _name(row):
    return type(row.make()).__name__


def test_rows_have_every_link():
    classes = {name: getattr(L, name) for name in L.__all__ if inspect.isclass(getattr(L, name))}
    names = {name for name, cls in classes.items() if issubclass(cls, chainer.Link)}
    assert names == {_name(row) for row in ROWS} | NEVER.keys() | MODELS


@pytest.mark.parametrize('train', [False, True])
@pytest.mark.parametrize('row', ROWS, ids=[f'{i}' for i in range(len(ROWS))])
def test_link(row, train):
    np.random.seed(0)
    link = row.make()
    name = type(link).__name__
    reason = NEVER.get(name) or (train and NOT_IN_TRAINING.get(name))
    if name == 'SimplifiedDropconnect' and link.ratio:
        reason = 'random'
    if reason:
        with pytest.raises((ValueError, RuntimeError), match=reason):
            onnx_chainer.export(link, row.args, train=train)
        return
    warns = name == 'BlackOut' or name == 'StatefulZoneoutLSTM' and train
    with pytest.warns(UserWarning, match='random') if warns else contextlib.nullcontext():
        helpers_of_export.check(link, row.args, 1e-4, opset_version=21, train=train)
