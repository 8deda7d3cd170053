"""The program around the parts of the stress, and what changes in each program."""

from __future__ import annotations

PROGRAM = """
import abc
import builtins
import enum
import functools
import numpy as np
import chainer
import chainer as ch
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks

DEVICE = 'native:0'
{outside}
class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(6, 3)
{init}
    def forward(self, x, t):
        h = x
{forward}
        return self.out(h)

class Program:
    weight = 1.0

    def __init__(self):
        self.model = Model()
        self.model.to_device(DEVICE)
        self.optimizer = chainer.optimizers.{optimizer}().setup(self.model)
        self.updates, self.passes_loss = True, False

    def loss(self, x, t, scale):
        return F.softmax_cross_entropy(self.model(x, t), t) * (self.weight * scale)

    def step(self, x, t, *, scale=1.0):
        x, t = chainer.get_device(DEVICE).send((x, t))
        model = self.model
        if not chainer.config.train:
            with chainer.no_backprop_mode():
                return model(x, t).array
        if self.passes_loss:
            self.optimizer.update(self.loss, x, t, scale)
            return len(x)
        loss = self.loss(x, t, scale)
        model.cleargrads()
        loss.backward(loss_scale=self.optimizer._loss_scale)
        loss.unchain_backward()
        if self.updates:
            self.optimizer.update()
        return {{'loss': loss, 'n': len(x)}}

program = Program()
model, optimizer = program.model, program.optimizer
"""

CHANGES = (
    'program.weight = {v}',
    'Program.weight = {v}',
    'program.updates = not program.updates',
    'program.passes_loss = not program.passes_loss',
    'program.weight = 1e38 if optimizer._loss_scaling_is_dynamic else 1.0',
    'optimizer.lr = 0.1 * {v}',
    'optimizer.alpha = 0.01 * {v}',
    'optimizer.hyperparam.lr = 0.01',
    'optimizer.hyperparam.eps = 1e-3',
    'optimizer.add_hook(hooks.WeightDecay(0.1))',
    'optimizer.add_hook(hooks.GradientClipping(0.1))',
    'optimizer.add_hook(hooks.Lasso(0.01))',
    'optimizer.add_hook(hooks.GradientHardClipping(-0.1, {v}))',
    'optimizer.add_hook(hooks.GradientLARS(weight_decay=0.1))',
    'optimizer.add_hook(hooks.GradientNoise(0.1))',
    'optimizer.add_hook(hooks.WeightDecay({v}), "late", "post")',
    'optimizer.add_hook(lambda opt: None, "own")',
    'model.out.W.update_rule.add_hook(hooks.WeightDecay({v}))',
    'model.out.b.update_rule.add_hook(hooks.GradientHardClipping(-0.1, 0.1), timing="post")',
    'model.out.W.update_rule._pre_update_hooks["WeightDecay"].rate = 0.1 * {v}',
    'optimizer._pre_update_hooks["WeightDecay"].rate = 0.1 * {v}',
    'optimizer._pre_update_hooks["GradientClipping"].threshold = {v}',
    'optimizer._pre_update_hooks["GradientHardClipping"].upper_bound = 0.1 * {v}',
    'optimizer.set_loss_scale(8.0 * {v})',
    'optimizer.loss_scaling(interval=5)',
    'optimizer.loss_scaling(interval=1)',
    'optimizer.set_loss_scale(16)',
    'optimizer._loss_scale = None; optimizer._loss_scaling_is_dynamic = False',
    'optimizer.remove_hook("GradientHardClipping")',
    'optimizer.remove_hook("GradientNoise")',
    'optimizer.remove_hook("late")',
    'optimizer.remove_hook("WeightDecay")',
    'optimizer.remove_hook("GradientClipping")',
    'optimizer.setup(model)',
    'optimizer.t = 7',
    'optimizer.new_epoch()',
    'optimizer.use_cleargrads({v} == 1)',
    'model.zerograds()',
    'model.cleargrads()',
    'model.to_device("@numpy").to_device(DEVICE)',
    'model = program.model = model.copy("copy"); optimizer.setup(model)',
    'model.name = "other"',
    'chainer.config.dtype = np.float32',
    'chainer.config.debug = {v} == 2',
    'chainer.config.cudnn_deterministic = {v} == 1',
    'model.out = L.Linear(6, 3).to_device(DEVICE)',
    'del model.out\nwith model.init_scope():\n    model.out = L.Linear(6, 3, nobias={v} == 1)\n'
    'model.to_device(DEVICE)\noptimizer.setup(model)',
)  # fmt: skip
OPTIMIZERS = 'SGD', 'Adam', 'MomentumSGD', 'RMSprop', 'AdaGrad', 'AdaDelta', 'AMSGrad', 'NesterovAG'
