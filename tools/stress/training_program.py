"""The program around the parts of the stress, and what changes in each program."""

from __future__ import annotations

PROGRAM = """
import abc
import builtins
import collections
import copy
import enum
import functools
import io
import warnings
from types import SimpleNamespace
import numpy as np
import chainer
import chainer as ch
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks
from chainer.training import extensions

DEVICE = 'native:0'

def load(target):
    file = io.BytesIO()
    chainer.serializers.save_npz(file, target)
    file.seek(0)
    chainer.serializers.load_npz(file, target)

def fail(opt):
    1 / (opt.t % 3)

def replace_grads(opt):
    for param in opt.target.params():
        if param.grad is not None:
            param.grad = param.grad * 0.5

def reset_states(opt):
    for link in opt.target.links():
        if hasattr(link, 'reset_state'):
            link.reset_state()

def freeze(opt):
    opt.target.out.b.update_rule.enabled = opt.t % 4 != 1

def report(opt):
    chainer.report({{'hook': opt.t, 'b': opt.target.out.b.array}})

def decay(opt):
    opt.lr = 0.1 / (1 + opt.t)

def change_parameters(opt):
    opt.target.out.b.array[...] *= 0.5

{outside}
class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(6, 3)
{init}
    def forward(self, x, t):
        h = {first}
{forward}
        return self.out(h)

class Program:
    weight = 1.0

    def __init__(self):
        self.model = Model()
        self.model.to_device(DEVICE)
        self.optimizer = chainer.optimizers.{optimizer}().setup(self.model)
        self.critic = L.Linear(3, 1)
        self.critic.to_device(DEVICE)
        self.second = chainer.optimizers.{second}().setup(self.critic)
        self.updates, self.passes_loss = True, False
        self.keywords, self.last = {{}}, None

    def loss(self, x, t, scale):
        return F.softmax_cross_entropy(self.model(x, t), t) * (self.weight * scale)

    def step(self, x, t, *, scale=1.0, extra=None):
        x, t = chainer.get_device(DEVICE).send((x, t))
        if extra is not None:
            x = x * extra['a'][0] + extra.get('b', 0)
        model = self.model
        if not chainer.config.train:
            with chainer.no_backprop_mode():
                return model(x, t).array
        if self.passes_loss:
            self.optimizer.update(self.loss, x, t, scale)
            return len(x)
{step}

program = Program()
model, optimizer, second = program.model, program.optimizer, program.second
"""

#: The last lines of steps.
STEPS = (
    """
        loss = self.loss(x, t, scale)
        model.cleargrads()
        loss.backward(loss_scale=self.optimizer._loss_scale)
        loss.unchain_backward()
        if self.updates:
            self.optimizer.update()
        return {'loss': loss, 'n': len(x)}
    """,
    # Gradients that are cleared first, and graphs that are not unchained.
    """
        model.cleargrads()
        loss = self.loss(x, t, scale)
        loss.backward(**self.keywords)
        self.optimizer.update()
        return loss
    """,
    # Gradient accumulation.
    """
        if self.updates:
            model.cleargrads()
        for part in range(2):
            loss = self.loss(x[part::2], t[part::2], scale)
            loss.backward()
        self.optimizer.update()
        model.zerograds()
        return loss.array
    """,
    # Gradients that stay until the next call.
    """
        loss = self.loss(x, t, scale)
        loss.backward()
        if self.updates:
            self.optimizer.update()
            model.cleargrads()
        self.last = loss.array
        return self.last, [x, t, None]
    """,
    # Adversarial training.
    """
        fake = model(x, t)
        y = self.critic(fake)
        loss = F.sum(F.softplus(-y)) / len(x) * scale
        model.cleargrads()
        loss.backward()
        self.optimizer.update()
        fake.unchain_backward()
        other = F.sum(F.softplus(self.critic(fake))) + F.sum(F.softplus(-self.critic(x[:, :3])))
        self.critic.cleargrads()
        other.backward()
        self.second.update()
        chainer.report({'loss': loss, 'other': other}, model)
        return (loss, other), {'n': len(x)}
    """,
    # Both from the gradients of one pass, and something of both afterwards.
    """
        self.critic.cleargrads()
        model.cleargrads()
        y = model(x, t)
        self.last = y.array * 2
        loss = F.softmax_cross_entropy(y, t) + F.mean(self.critic(y)) * scale
        loss.backward()
        self.optimizer.update()
        self.last = self.last + 1
        self.second.update()
        self.last = self.last * self.critic.W.array
        return loss.array
    """,
    # A gradient penalty.
    """
        y = self.critic(model(x, t))
        g, = chainer.grad([F.sum(y)], [model.out.W], enable_double_backprop=True)
        loss = F.mean(y) + F.sum(g * g) * scale
        model.cleargrads()
        self.critic.cleargrads()
        loss.backward()
        self.optimizer.update()
        self.second.update()
        return loss.array
    """,
)
CHANGES = (
    'program.keywords = {"retain_grad": True}',
    'program.keywords = {"enable_double_backprop": True}',
    'program.keywords = {"loss_scale": 2.0}',
    'program.keywords = {}',
    'program.last = None',
    'second.lr = 0.1 * {v}',
    'second.add_hook(fail)',
    'second.add_hook(replace_grads)',
    'second.remove_hook("fail")',
    'second.remove_hook("replace_grads")',
    'second.add_hook(hooks.WeightDecay(0.1))',
    'program.critic.W.array *= {v}',
    'program.critic.disable_update()',
    'program.critic.enable_update()',
    'optimizer.add_hook(fail)',
    'optimizer.add_hook(fail, "late fail", "post")',
    'optimizer.remove_hook("fail")',
    'optimizer.remove_hook("fail")',
    'optimizer.remove_hook("late fail")',
    'optimizer.add_hook(replace_grads)',
    'optimizer.remove_hook("replace_grads")',
    'optimizer.add_hook(reset_states)',
    'optimizer.remove_hook("reset_states")',
    'optimizer.add_hook(freeze)',
    'optimizer.remove_hook("freeze")',
    'optimizer.add_hook(report)',
    'optimizer.remove_hook("report")',
    'optimizer.add_hook(decay)',
    'optimizer.remove_hook("decay")',
    'optimizer.add_hook(change_parameters)',
    'optimizer.remove_hook("change_parameters")',
    'load(model)',
    'load(optimizer)',
    'load(second)',
    'other = Model()\nmodel.copyparams(other)',
    'other = Model()\nother.cleargrads()\nmodel.addgrads(other)',
    'model.out.W.copydata(chainer.Parameter(model.out.W.array * {v}))',
    'model.out.W.array = np.ones((3, 6), "f")',
    'model.out.b = model.out.W[:, 0]',
    'model.out.b.update_rule = None',
    'model.out = copy.deepcopy(model.out)',
    'model.out.W.update_rule = copy.deepcopy(model.out.W.update_rule)',
    'shift = extensions.ExponentialShift("lr", 0.5, init={v}, optimizer=optimizer)\n'
    'shift.initialize(None)',
    'shift(None)',
    'optimizer.hyperparam.lr = "text"',
    'optimizer.setup(model.out)',
    'model.repeat(2)',
    'model.unregister = {v}',
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
#: What models begin with: some pass arrays on, others variables.
FIRST = 'x', 'chainer.as_variable(x)', 'chainer.Variable(x)', 'F.identity(x)'
OPTIMIZERS = 'SGD', 'Adam', 'MomentumSGD', 'RMSprop', 'AdaGrad', 'AdaDelta', 'AMSGrad', 'NesterovAG'
