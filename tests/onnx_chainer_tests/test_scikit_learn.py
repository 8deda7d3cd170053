"""The estimators of scikit-learn that skl2onnx converts, in both loaders and in ONNX Runtime."""

import functools
import inspect
import warnings

import numpy as np
import pytest

skl2onnx = pytest.importorskip('skl2onnx')
onnxruntime = pytest.importorskip('onnxruntime')
from skl2onnx._supported_operators import sklearn_operator_name_map  # noqa: E402
from skl2onnx.common.data_types import FloatTensorType  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.utils import all_estimators  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


LEAST = 0.95


def data_of(name):
    rng = np.random.RandomState(0)
    x = abs(rng.randn(60, 5)).astype('f') + 0.1
    labels = np.digitize(x[:, 0] + x[:, 1], [1.2, 2.0])
    kind = name.startswith('MultiTask') or name in ('CCA', 'PLSCanonical', 'MultiOutputRegressor')
    if kind or name in ('RegressorChain', 'PLSRegression', 'PLSSVD'):
        return x, np.stack([x @ np.arange(5), x[:, 0] ** 2], 1)
    return x, labels


@functools.lru_cache(None)
def cases():
    """Names, files, inputs and outputs of what ONNX Runtime runs."""
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for name, data, x in converted():
            try:
                out.append((name, data, x, expected_of(data, x)))
            except Exception:  # of ONNX Runtime
                continue
    return out


def converted():
    """Names, files and inputs of the estimators that convert as they are made without arguments."""
    for name, estimator in all_estimators():
        if estimator not in sklearn_operator_name_map:
            continue
        parameters = inspect.signature(estimator).parameters
        given = {'estimator': LogisticRegression()} if 'estimator' in parameters else {}
        x, y = data_of(name)
        try:
            fitted = estimator(**given).fit(x, y)
            model = skl2onnx.convert_sklearn(
                fitted, initial_types=[('X', FloatTensorType([None, x.shape[1]]))]
            )
        except Exception:  # that needs other arguments or data
            continue
        yield name, model.SerializeToString(), x[:17]


def expected_of(data, x):
    session = onnxruntime.InferenceSession(data, providers=['CPUExecutionProvider'])
    return session.run(None, {'X': x})


def check(actual, expected):
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert a == pytest.approx(e, rel=1e-3, abs=1e-4)
        return
    assert actual.shape == expected.shape
    if expected.dtype.kind == 'f':
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)
    else:
        assert actual.tolist() == expected.tolist()


def test_estimators(loader):
    onnxruntime.set_default_logger_severity(4)
    failed = {}
    for name, data, x, expected in cases():
        try:
            for a, e in zip(loader.load(data)(x), expected):
                check(a, e)
        except Exception as error:
            failed[name] = str(error)[:200]
    assert len(cases()) >= 100
    assert len(failed) <= (1 - LEAST) * len(cases()), failed
