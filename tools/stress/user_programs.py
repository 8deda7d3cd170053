"""More parts of the programs of the stress for ``chainer.compile``: what users write."""

from __future__ import annotations

from tools.stress.programs import Part

USER_PARTS = (
    # Models.
    Part(
        'q = h[:, None] * h[:, :, None] / np.sqrt(self.dim{i} // self.heads{i})\n'
        'q = F.where(self.xp.asarray(np.tril(np.ones((6, 6), "?"), self.diagonal{i})), q, -1e3)\n'
        'h = F.squeeze(F.matmul(F.softmax(q, axis=2), h[:, :, None]), 2) * np.log(2.0)',
        'self.dim{i}, self.heads{i}, self.diagonal{i} = 12, 3, 0',
        '',
        (
            'model.heads{i} = 2',
            'model.heads{i} = int({v})',
            'model.dim{i} = 6.0',
            'model.diagonal{i} = int({v})',
            'model.diagonal{i} = 0',
        ),
    ),
    Part(
        'k = F.relu(self.bn{i}(self.conv{i}(h.reshape(-1, 1, 2, 3))))\n'
        'h = h + F.max_pooling_2d(k, self.size{i}, stride=1, pad=0).reshape(len(h), -1)[:, :1]',
        'self.conv{i} = L.Convolution2D(1, 2, 3, pad=1)\n'
        'self.bn{i} = L.BatchNormalization(2)\nself.size{i} = 2',
        '',
        (
            'model.size{i} = 1',
            'model.size{i} = (1, 2)',
            'model.conv{i}.pad = 1, 2',
            'model.conv{i}.pad = 1, 1',
            'model.conv{i}.W.array *= {v}',
            'model.bn{i}.eps = 0.1',
            'model.conv{i}.disable_update()',
            'model.conv{i} = L.Convolution2D(1, 2, (1, 3), pad=(0, 1)).to_device(DEVICE)',
        ),
    ),
    Part(
        'h = self.late{i}(h)',
        'self.late{i} = L.Linear(None, 6)',
        '',
        (
            'model.late{i} = L.Linear(None, 6).to_device(DEVICE)',
            'model.late{i}.W.array[...] = {v}',
            'model.late{i}.cleargrads()',
        ),
    ),
    Part(
        'for j in range(self.depth{i}):\n    h = F.tanh(self[f"d{i}_{{j}}"](h)) + h',
        'self.depth{i} = 2\n'
        'for j in range(3):\n    setattr(self, f"d{i}_{{j}}", L.Linear(6, 6, nobias=True))',
        '',
        ('model.depth{i} = 3', 'model.depth{i} = 1', 'model.d{i}_0 = model.d{i}_1'),
    ),
    Part(
        'for link in self.children():\n'
        '    if isinstance(link, L.Linear) and link.W.shape == (6, 6):\n        h = link(h) * 0.5',
        '',
        '',
        ('model.name = "a"', 'model.add_link("more{i}", L.Linear(6, 6).to_device(DEVICE))'),
    ),
    Part(
        'h = super().forward(h) if hasattr(super(), "forward") else self.block{i}(h)',
        'self.block{i} = Block{i}()',
        """
            class Base{i}(chainer.Chain):
                slope = 0.5
                def __init__(self):
                    super().__init__()
                    with self.init_scope():
                        self.l = L.Linear(6, 6)
                def forward(self, h):
                    return F.leaky_relu(self.l(h), self.slope)
                def layers(self):
                    yield self.l
                    yield F.sigmoid
            class Block{i}(Base{i}):
                def forward(self, h):
                    for f in self.layers():
                        h = f(h)
                    return super().forward(h)
        """,
        (
            'Base{i}.slope = {v}',
            'model.block{i}.slope = {v}',
            'Base{i}.forward = lambda self, h: h * {v}',
            'Block{i}.layers = lambda self: iter([self.l])',
            'model.block{i}.__class__ = Base{i}',
            'model.block{i}.l.b.array[...] = {v}',
        ),
    ),
    Part(
        'h = self.mgu{i}(h)\nself.mgu{i}.h.unchain_backward()',
        'self.mgu{i} = L.StatefulMGU(6, 6)',
        '',
        ('model.mgu{i}.reset_state()', 'model.mgu{i}.set_state(chainer.Variable(x))'),
    ),
    Part(
        'c, h = self.cell{i}(self.c{i}, h, h)\nself.c{i} = c.array if self.keeps{i} else None',
        'self.cell{i} = L.StatelessLSTM(6, 6)\nself.c{i} = None\nself.keeps{i} = True',
        '',
        ('model.c{i} = None',),
    ),
    Part(
        'hs = self.gru{i}(None, [h[:2], h[2:], h[:1]][:self.count{i}])[1]\n'
        'h = h + F.sum(F.stack([y[-1] for y in hs if len(y)]), 0)',
        'self.gru{i} = L.NStepBiGRU(1, 6, 3, 0.0)\nself.count{i} = 1',
        '',
        ('model.count{i} = 3', 'model.count{i} = 1'),
    ),
    Part(
        'h = h + self.gate{i}\nif self.opens{i}:\n    self.gate{i} = chainer.Variable(h.array[:1])',
        'self.gate{i} = chainer.Variable(chainerx.ones((1, 6), "f"))\nself.opens{i} = True',
        '',
        (
            'model.gate{i}.cleargrad()',
            'model.gate{i}.array *= {v}',
        ),
    ),
    # The target network of reinforcement learning, and moving averages.
    Part(
        'h = h + F.forget(self.online{i}, h) - self.target{i}(h).array\n'
        'for p, q in zip(self.target{i}.params(), self.online{i}.params()):\n'
        '    p.array[...] = p.array * self.tau{i} + q.array * (1 - self.tau{i})',
        'self.online{i}, self.target{i} = L.Linear(6, 6), L.Linear(6, 6)\nself.tau{i} = 0.5',
        '',
        (
            'model.target{i} = model.online{i}.copy("copy")',
            'model.target{i}.copyparams(model.online{i})',
        ),
    ),
    Part(
        'self.average{i}.data[...] = self.average{i}.data * 0.5 + h.data[0] * 0.5\n'
        'h = h + self.average{i}',
        'self.average{i} = chainer.Variable(chainerx.zeros(6, "f", device=DEVICE))',
        '',
        ('model.average{i}.data = chainerx.ones(6, "f", device=DEVICE)',),
    ),
    Part(
        'xp = chainer.backend.get_array_module(h)\n'
        'h = h + xp.full((len(h), 1), self.fill{i}, dtype=h.dtype) * self.xp.arange(6, dtype="f")',
        'self.fill{i} = 0.5',
        '',
        ('model.fill{i} = np.float32({v})',),
    ),
    Part(
        'h = h + getattr(F, self.fn{i})(h)',
        'self.fn{i} = "relu"',
        '',
        tuple(
            f'model.fn{{i}} = "{name}"'
            for name in (
                'elu softplus sin sigmoid tanh exp absolute square normalize log_softmax selu '
                'hard_sigmoid softsign cumsum fliplr identity none'
            ).split()
        ),
    ),
    Part(
        'h = h + F.mean_squared_error(h, F.flipud(h)) + F.mean(F.huber_loss(h, h, 1.0, "no"))\n'
        'h = h - F.logsumexp(h, axis=1)[:, None] + F.average(h, axis=0, weights=h.array[:, 0])'
    ),
    Part(
        'a, b, c = F.split_axis(h, 3, axis=1)\n'
        'h = F.hstack([b, F.maximum(a, c), F.transpose(c.T)])\n'
        'h = F.reshape(F.pad(h, ((0, 0), (1, 1)), "constant")[:, 1:-1], (h.shape[0], -1))'
    ),
    # Python.
    Part(
        'h = h * args{i}.scale + config{i}.shift * len(config{i}.names)',
        '',
        """
            import argparse
            import dataclasses
            args{i} = argparse.Namespace(scale=0.5)
            @dataclasses.dataclass
            class Config{i}:
                shift: float = 0.5
                names: list = dataclasses.field(default_factory=lambda: ["a"])
            config{i} = Config{i}()
        """,
        (
            'args{i}.scale = {v}',
            'args{i} = argparse.Namespace(scale={v})',
            'config{i}.shift = {v}',
            'config{i}.names.append("b")',
            'config{i} = dataclasses.replace(config{i}, shift={v})',
            'Config{i}.shift = {v}',
        ),
    ),
    Part(
        'h = factor{i}(h)',
        '',
        """
            def scaled{i}(by):
                def decorate(function):
                    @functools.wraps(function)
                    def call(*args, **kwargs):
                        return function(*args, **kwargs) * by[0]
                    return call
                return decorate
            by{i} = [0.5]
            @scaled{i}(by{i})
            def factor{i}(h):
                return F.relu(h) + factor{i}.shift
            factor{i}.shift = 0.5
        """,
        (
            'by{i}[0] = {v}',
            'factor{i}.shift = {v}',
            'factor{i}.__wrapped__ = F.tanh',
            'factor{i}.__annotations__["h"] = {v}',
        ),
    ),
    Part(
        'h = h * table{i}(len(h))',
        '',
        """
            scale{i} = 0.5
            @functools.lru_cache
            def table{i}(n):
                return n * 0.5 + scale{i}
        """,
        ('scale{i} = {v}', 'table{i}.cache_clear()'),
    ),
    Part(
        'match mode{i}:\n    case Mode{i}.A:\n        h = h * 2\n    case Mode{i}.B:\n'
        '        h = h * math.sqrt(mode{i}.value + 1)\nassert h.shape == (len(h), 6), h.shape',
        '',
        """
            import math
            class Mode{i}(enum.Enum):
                A = 1
                B = 2
            mode{i} = Mode{i}.A
        """,
        ('mode{i} = Mode{i}.B', 'mode{i} = Mode{i}.A', 'Mode{i}.B._value_ = {v}', 'mode{i} = None'),
    ),
    Part(
        'h = h * self.keyed{i}.factor + len("{{0.s}} {{1}}".format(self.keyed{i}, self.n{i}))',
        'self.keyed{i}, self.n{i} = Keyed{i}(), 1',
        """
            class Keyed{i}:
                def __init__(self):
                    self.__dict__["values"] = {{"factor": 0.5, "s": "a"}}
                def __getattr__(self, name):
                    return self.__dict__["values"][name]
                def __setattr__(self, name, value):
                    self.values[name] = value
        """,
        (
            'model.keyed{i}.factor = {v}',
            'model.keyed{i}.s = "abc"',
            'model.keyed{i}.__dict__["factor"] = {v}',
            'model.keyed{i}.values.pop("factor")',
            'model.n{i} = {v}',
            'Keyed{i}.__getattr__ = lambda self, name: {v}',
        ),
    ),
    Part(
        'h = h * record{i}["a"] + records{i}[0]["b"]',
        '',
        """
            records{i} = np.ones(2, [("a", "f4"), ("b", "f4")])
            record{i} = records{i}[1]
        """,
        ('record{i}["a"] = {v}', 'records{i}["b"][0] = {v}'),
    ),
    Part(
        'h = h * init{i}.fill_value + self.half{i}.initializer.fill_value',
        'self.half{i} = chainer.Parameter(chainer.initializers.Constant(0.5), 6)',
        'init{i} = chainer.initializers.Constant(0.5)',
        (
            'model.half{i}.initializer.fill_value = {v}',
            'init{i}.fill_value = {v}',
            'init{i} = chainer.initializers.Constant({v})',
        ),
    ),
    Part(
        'h = h + chainer.Variable(inner{i}(h.array))',
        '',
        """
            number{i} = 0.5
            @chainer.compile
            def inner{i}(x):
                return F.tanh(x * number{i}).array
        """,
        (
            'number{i} = {v}',
            'inner{i} = copy.deepcopy(inner{i})',
            'inner{i} = chainer.compile(lambda x: x * {v})',
            'model.inner{i} = inner{i}\nmodel.other{i} = copy.deepcopy(model.inner{i})',
        ),
    ),
    Part(
        'h = self.scaled{i}(h) + self.other{i}(h)',
        'self.scaled{i}, self.other{i} = Scaled{i}(0.5), Scaled{i}(2)',
        """
            class Scaled{i}(chainer.Link):
                def __init__(self, factor):
                    super().__init__()
                    self.factor = factor
                @chainer.compile
                def part(self, x):
                    return x * self.factor
                def forward(self, h):
                    return h + self.part(h.array)
        """,
        (
            'model.scaled{i}.factor = {v}',
            'model.other{i} = model.scaled{i}',
            'model.other{i} = copy.deepcopy(model.scaled{i})',
        ),
    ),
    Part(
        'h = -h * getattr(chainer.global_config, "list{i}", [1.0])[0]',
        '',
        'negative{i} = chainer.Variable.__neg__',
        (
            'chainer.global_config.list{i} = [{v}]',
            'chainer.global_config.list{i}[0] = {v}',
            'chainer.Variable.__neg__ = lambda v: v * {v}',
            'chainer.Variable.__neg__ = negative{i}',
        ),
    ),
    Part('if float(F.max(h).array) > self.limit{i}:\n    h = h * 0.5', 'self.limit{i} = 1.0'),
    Part(
        'if self.counter{i} is not None:\n    self.counter{i} += 1\n    h = h * self.counter{i}',
        'self.counter{i} = None',
        '',
        ('model.counter{i} = 1', 'model.counter{i} = None'),
    ),
    Part(
        'if not hasattr(self, "made{i}"):\n    with self.init_scope():\n'
        '        self.made{i} = L.Linear(6, 6)\n    self.made{i}.to_device(DEVICE)\n'
        '    program.optimizer.setup(self)\nh = self.made{i}(h)',
        '',
        '',
        ('del model.made{i}', 'model.made{i}.W.array *= {v}'),
    ),
    Part(
        'try:\n    with chainer.using_config("train", self.mode{i}["train"]):\n'
        '        h = F.dropout(h, self.mode{i}["ratio"]) * (2 if chainer.config.train else 1)\n'
        'finally:\n    h = h + len(self.mode{i})',
        'self.mode{i} = {{"train": False, "ratio": 0.5}}',
        '',
        (
            'model.mode{i}["train"] = True',
            'model.mode{i}["train"] = False',
            'model.mode{i}["ratio"] = 0.2',
            'model.mode{i}["more"] = 1',
        ),
    ),
)
