"""Export of models to the formats of other frameworks."""

from chainer.exporters import caffe as caffe
