"""Import of models from Caffe."""

from chainer.links.caffe.caffe_function import CaffeFunction as CaffeFunction
