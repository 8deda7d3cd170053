"""Links: parts of models with parameters."""

from chainer.links.activation.maxout import Maxout
from chainer.links.activation.prelu import PReLU
from chainer.links.activation.swish import Swish
from chainer.links.connection.bias import Bias
from chainer.links.connection.highway import Highway
from chainer.links.connection.linear import Linear
from chainer.links.connection.parameter import Parameter
from chainer.links.connection.scale import Scale
from chainer.links.model.classifier import Classifier

__all__ = [
    'Bias', 'Classifier', 'Highway', 'Linear', 'Maxout', 'PReLU', 'Parameter', 'Scale', 'Swish',
]
