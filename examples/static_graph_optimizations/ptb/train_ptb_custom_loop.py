#!/usr/bin/env python
"""Trains the language model of the PTB example with a static graph for each word."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../ptb'))

import train_ptb_custom_loop  # noqa: E402

import chainer  # noqa: E402


class StaticRNNForLM(train_ptb_custom_loop.RNNForLM):
    @chainer.static_graph
    def forward(self, x):
        return super().forward(x)


if __name__ == '__main__':
    train_ptb_custom_loop.RNNForLM = StaticRNNForLM
    train_ptb_custom_loop.main()
