#!/usr/bin/env python
"""Trains the network of the MNIST example with a static graph."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../mnist'))

import train_mnist  # noqa: E402

import chainer  # noqa: E402


class StaticMLP(train_mnist.MLP):
    @chainer.static_graph
    def forward(self, x):
        return super().forward(x)


if __name__ == '__main__':
    train_mnist.MLP = StaticMLP
    train_mnist.main()
