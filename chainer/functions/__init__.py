"""Differentiable functions of variables and arrays."""
# Activation
from chainer.functions.activation.log_softmax import log_softmax
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.softmax import softmax
from chainer.functions.activation.tanh import tanh

# Array
from chainer.functions.array.broadcast import broadcast, broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.concat import concat
from chainer.functions.array.expand_dims import expand_dims
from chainer.functions.array.get_item import get_item
from chainer.functions.array.reshape import reshape
from chainer.functions.array.rollaxis import rollaxis
from chainer.functions.array.split_axis import split_axis
from chainer.functions.array.squeeze import squeeze
from chainer.functions.array.stack import stack
from chainer.functions.array.swapaxes import swapaxes
from chainer.functions.array.transpose import transpose
from chainer.functions.array.where import where

# Connection
from chainer.functions.connection.linear import linear

# Evaluation
from chainer.functions.evaluation.accuracy import accuracy

# Loss
from chainer.functions.loss.softmax_cross_entropy import softmax_cross_entropy

# Math
from chainer.functions.math.arctanh import arctanh
from chainer.functions.math.average import average, average as mean
from chainer.functions.math.basic_math import absolute, add
from chainer.functions.math.ceil import ceil
from chainer.functions.math.exponential import exp, log, log2, log10
from chainer.functions.math.exponential_m1 import expm1
from chainer.functions.math.fix import fix
from chainer.functions.math.floor import floor
from chainer.functions.math.hyperbolic import cosh, sinh
from chainer.functions.math.logarithm_1p import log1p
from chainer.functions.math.matmul import batch_matmul, matmul
from chainer.functions.math.maximum import maximum
from chainer.functions.math.minimum import minimum
from chainer.functions.math.minmax import argmax, argmin, max, min
from chainer.functions.math.sign import sign
from chainer.functions.math.sqrt import rsqrt, sqrt
from chainer.functions.math.square import square
from chainer.functions.math.sum import sum, sum_to
from chainer.functions.math.trigonometric import (
    arccos, arcsin, arctan, arctan2, cos, sin, tan)
