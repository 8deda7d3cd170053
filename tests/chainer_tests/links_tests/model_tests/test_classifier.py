import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import testing

X = numpy.arange(6, dtype='f').reshape(2, 3)
T = numpy.array([0, 1], 'i')


def test_forward():
    model = L.Classifier(L.Linear(3, 2))
    reporter = chainer.Reporter()
    reporter.add_observer('main', model)
    with reporter:
        loss = model(X, T)
    assert loss is model.loss
    expected = F.softmax_cross_entropy(model.predictor(X), T)
    testing.assert_allclose(loss.array, expected.array)
    assert set(reporter.observation) == {'main/loss', 'main/accuracy'}
    assert reporter.observation['main/accuracy'].array == model.accuracy.array
    assert model.y.shape == (2, 2)


def test_without_accuracy():
    model = L.Classifier(L.Linear(3, 2))
    model(X, T)
    model.compute_accuracy = False
    model(X, T)
    assert model.accuracy is None


@pytest.mark.parametrize(
    'label_key,args,kwargs',
    [
        (-1, (X, T), {}),
        (0, (T, X), {}),
        (1, (X, T), {}),
        (-2, (T, X), {}),
        ('t', (X,), {'t': T}),
        ('label', (), {'x': X, 'label': T}),
    ],
)
def test_label_key(label_key, args, kwargs):
    seen = []
    model = L.Classifier(
        L.Linear(3, 2), lossfun=lambda y, t: seen.append(t) or F.sum(y), label_key=label_key
    )
    model(*args, **kwargs)
    assert seen[0] is T


@pytest.mark.parametrize('label_key,match', [(2, '2 is out of bounds'), (-3, 'out of'), ('u', 'u')])
def test_missing_label(label_key, match):
    model = L.Classifier(L.Linear(3, 2), label_key=label_key)
    with pytest.raises(ValueError, match=match):
        model(X, T)


def test_type_of_label_key():
    with pytest.raises(TypeError, match='label_key'):
        L.Classifier(L.Linear(3, 2), label_key=1.5)
