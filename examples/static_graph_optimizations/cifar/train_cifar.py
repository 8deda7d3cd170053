#!/usr/bin/env python
"""Trains the networks of the CIFAR example with static graphs."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../cifar'))

import models  # noqa: E402
import train_cifar  # noqa: E402

import chainer  # noqa: E402


class StaticVGG(models.VGG):
    @chainer.static_graph
    def forward(self, x):
        return super().forward(x)


class StaticResNet50(models.ResNet50):
    @chainer.static_graph
    def forward(self, x):
        return super().forward(x)


if __name__ == '__main__':
    models.VGG = StaticVGG
    models.ResNet50 = StaticResNet50
    train_cifar.main()
