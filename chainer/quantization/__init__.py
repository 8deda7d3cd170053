"""Models in 8 and 4 bits: ranges of a trained model, integers for it, and training for them.

.. admonition:: Example

    >>> import chainer.quantization
    >>> model = chainer.Sequential(L.Linear(3, 2), F.relu)
    >>> x = np.ones((1, 3), np.float32)
    >>> ranges = chainer.quantization.calibrate(model, [x])
    >>> chainer.quantization.quantize(model, ranges)(x).shape
    (1, 2)

"""

from chainer.quantization._calibration import LinkRanges as LinkRanges, calibrate as calibrate
from chainer.quantization._functions import (
    dequantize_linear as dequantize_linear,
    fake_quantize as fake_quantize,
    quantize_linear as quantize_linear,
)
from chainer.quantization._linear import quantized_linear as quantized_linear
from chainer.quantization._observers import (
    Entropy as Entropy,
    MinMax as MinMax,
    MovingAverageMinMax as MovingAverageMinMax,
    Observer as Observer,
    Percentile as Percentile,
)
from chainer.quantization._quantize import quantize as quantize
from chainer.quantization._report import Evaluation as Evaluation, evaluate as evaluate
from chainer.quantization._training import convert as convert, prepare as prepare
