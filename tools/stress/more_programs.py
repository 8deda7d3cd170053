"""More parts of the programs of the stress for ``chainer.compile``: states, graphs, containers."""

from __future__ import annotations

from tools.stress.programs import Part

MORE_PARTS = (
    # States: of several links, shared, persistent, and those that come and go.
    Part(
        'h = self.bn{i}(h) + self.bn{i}(h * 2)\nif self.again{i}:\n    h = self.bn{i}(h)',
        'self.bn{i} = L.BatchNormalization(6)\nself.again{i} = False',
        '',
        (
            'model.bn{i}.avg_mean.fill({v})',
            'model.bn{i}.N += 1',
            'model.bn{i} = copy.deepcopy(model.bn{i})',
            'model.bn{i}.gamma.array *= {v}',
        ),
    ),
    Part(
        'h = self.a{i}(h)\nh = self.b{i}(h) + self.a{i}.h\nself.b{i}.h = self.a{i}.h',
        'self.a{i}, self.b{i} = Cell{i}(), Cell{i}()',
        """
            class Cell{i}(chainer.Chain):
                h = None
                def forward(self, x):
                    if self.h is not None and self.h.shape == x.shape:
                        x = x + self.h * 0.5
                    self.h = (x * 0.5).array
                    return x
        """,
        (
            'model.a{i}.h = None',
            'model.b{i}.h = model.a{i}.h',
            'model.a{i}.h *= {v}',
            'del model.b{i}.h',
            'model.a{i} = copy.deepcopy(model.a{i})',
            'model.b{i} = model.a{i}',
        ),
    ),
    Part(
        'h = h + self.sum{i}\nself.sum{i} = self.sum{i} * 0.5 + h.array[0]',
        'self.add_persistent("sum{i}", chainerx.zeros(6, "f", device=DEVICE))',
        '',
        (
            'model.sum{i} = chainerx.ones(6, "f", device=DEVICE)',
            'model.sum{i}[...] = {v}',
            'model.sum{i} = model.sum{i}[::-1]',
            'load(model)',
        ),
    ),
    Part(
        'self.sum{i} += h.array[0]\nh = h * 0.5 + self.sum{i}',
        'self.add_persistent("sum{i}", chainerx.zeros(6, "f", device=DEVICE))',
        '',
        ('model.sum{i}[...] = {v}', 'model.sum{i} = model.sum{i} + 1'),
    ),
    Part(
        'self.v{i} = F.tanh(h)\nif self.old{i} is not None:\n    h = h + self.old{i}[:1]\n'
        'self.old{i} = chainer.Variable(h.array)',
        'self.v{i} = self.old{i} = None',
        '',
        (
            'model.old{i} = None',
            'model.old{i} = chainer.Variable(model.v{i}.array)',
            'model.v{i} = {v}',
        ),
    ),
    Part(
        'self.peep{i}.reset_state()\nfor _ in range(self.steps{i}):\n    h = self.peep{i}(h)',
        'self.peep{i} = L.StatefulPeepholeLSTM(6, 6)\nself.steps{i} = 2',
        '',
        ('model.steps{i} = 3', 'model.steps{i} = 1', 'model.peep{i}.upward.W.array *= {v}'),
    ),
    Part(
        'h = self.zone{i}(h)',
        'self.zone{i} = L.StatefulZoneoutLSTM(6, 6, 0.3, 0.2)',
        '',
        ('model.zone{i}.reset_state()', 'model.zone{i}.c_ratio = 0.5'),
    ),
    Part(
        'h = self.ema{i}(h) + self.plain{i}(h)',
        'self.plain{i} = L.Linear(6, 6)\nself.ema{i} = L.Linear(6, 6)',
        '',
        (
            'model.ema{i}.copyparams(model.plain{i})',
            'model.ema{i}.W.copydata(model.plain{i}.W)',
            'model.ema{i}.W = model.plain{i}.W',
            'model.ema{i} = model.plain{i}',
            'model.ema{i} = model.plain{i}.copy("share")',
            'model.ema{i} = model.plain{i}.copy("init").to_device(DEVICE)',
            'model.ema{i}.addgrads(model.plain{i})',
            'model.ema{i}.W.array = model.plain{i}.W.array',
            'model.ema{i}.W.addgrad(model.plain{i}.W)',
            'model.ema{i}.W = None',
            'model.ema{i} = L.Linear(None, 6).to_device(DEVICE); optimizer.setup(model)',
        ),
    ),
    Part(
        'h = F.linear(h, self.out.W.T @ self.out.W)',
        '',
        '',
        ('model.out.W.array[0, 1] = {v}', 'model.out.W.array = model.out.W.array[::-1]'),
    ),
    Part('h = h * self.scalar{i}.array', 'self.scalar{i} = chainer.Parameter(0.5, ())'),
    # Graphs: what belongs to them, and modes.
    Part('h = chainer.Variable(h.array) * 0.5 + h'),
    Part('with chainer.no_backprop_mode():\n    k = F.tanh(h)\nh = h + k'),
    Part(
        'with chainer.using_config("train", self.train{i}):\n    h = F.dropout(h, 0.3)',
        'self.train{i} = True',
    ),
    Part(
        'if self.cut{i}:\n    h.unchain_backward()\nh = h * 2',
        'self.cut{i} = False',
    ),
    Part(
        'h = F.dropout(h, 0.4, mask=self.mask{i}[:len(h)])',
        'self.mask{i} = chainerx.ones((4, 6), "f", device=DEVICE)',
        '',
        ('model.mask{i}[0] = {v}', 'model.mask{i} = model.mask{i} * 0.5'),
    ),
    Part('g, = chainer.grad([F.sum(F.tanh(h))], [h])\nh = h + g'),
    Part(
        'g, = chainer.grad([F.sum(F.tanh(h))], [h], enable_double_backprop=self.double{i})\n'
        'h = h + g * g',
        'self.double{i} = True',
    ),
    Part(
        'k = lambda h: F.tanh(self.out(h))[:, :1] + h\n'
        'h = F.checkpoint(k, h) if hasattr(F, "checkpoint") else F.forget(k, h)'
    ),
    # Errors of the program, some of which it handles.
    Part(
        'if self.fails{i}:\n    raise ValueError(f"it fails {{self.fails{i}}}")',
        'self.fails{i} = 0',
        '',
        ('model.fails{i} = 0', 'model.fails{i} = 0'),
    ),
    Part(
        'try:\n    h = h + self.maybe{i}\nexcept Exception:\n    h = h * 3',
        'self.maybe{i} = 1.0',
        '',
        ('model.maybe{i} = "text"', 'del model.maybe{i}'),
    ),
    Part(
        'h = h / self.divisors{i}[len(h) % 2]\nh = h * (1 / self.divisors{i}[0])',
        'self.divisors{i} = [2.0, 4.0]',
        '',
        ('model.divisors{i}[0] = {v}', 'model.divisors{i}.pop()', 'model.divisors{i}.append(1)'),
    ),
    # Containers.
    Part(
        'h = h * self.box{i}.a["k"][1].b + self.box{i}.pair.y',
        'self.box{i} = SimpleNamespace(a={{"k": (1, SimpleNamespace(b=0.5))}})\n'
        'self.box{i}.pair = Pair{i}(1, 2.0)',
        'Pair{i} = collections.namedtuple("Pair{i}", "x y")',
        (
            'model.box{i}.a["k"][1].b = {v}',
            'model.box{i}.pair = Pair{i}(1, {v})',
            'model.box{i}.a = collections.OrderedDict(k=(1, SimpleNamespace(b={v})))',
            'model.box{i}.a["k"] = [1, SimpleNamespace(b=1)]',
            'del model.box{i}.a["k"][1].b',
        ),
    ),
    Part(
        'h = h * sum(self.queue{i}) * len(self.set{i})',
        'self.queue{i} = collections.deque([0.5, 1.0], maxlen=3)\nself.set{i} = {{1, 2}}',
        '',
        (
            'model.queue{i}.append({v})',
            'model.queue{i}.rotate()',
            'model.set{i}.add(int({v}))',
            'model.set{i}.discard(1)',
        ),
    ),
    Part(
        'for name, w in sorted(self.weights{i}.items()):\n    h = h * w.factor\n'
        'h = h + self.tables{i}["x"]',
        'self.weights{i} = {{"a": Weight{i}(0.5), "b": Weight{i}(2)}}\n'
        'self.tables{i} = collections.defaultdict(float)',
        """
            class Weight{i}:
                __slots__ = ("factor",)
                def __init__(self, factor):
                    self.factor = factor
        """,
        (
            'model.weights{i}["a"].factor = {v}',
            'model.weights{i}["c"] = Weight{i}({v})',
            'model.weights{i}.pop("c")',
            'model.tables{i}["x"] = {v}',
            'model.tables{i}.default_factory = lambda: 2.0',
            'model.tables{i}.clear()',
        ),
    ),
    Part(
        'h = own{i}(h, *self.args{i}, **self.kwargs{i})',
        'self.args{i}, self.kwargs{i} = (0.5,), {{"b": 2.0}}',
        """
            def own{i}(h, a=1.0, *rest, b=1.0, **others):
                return h * a * b + sum(rest) + len(others)
        """,
        (
            'model.args{i} = ()',
            'model.args{i} = (1.0, {v})',
            'model.kwargs{i}["b"] = {v}',
            'model.kwargs{i}["c"] = {v}',
            'model.kwargs{i} = {{}}',
        ),
    ),
    Part(
        'h = self.method{i}(h)',
        'self.method{i} = F.relu',
        '',
        (
            'model.method{i} = F.tanh',
            'model.method{i} = functools.partial(F.leaky_relu, slope={v})',
            'model.method{i} = lambda h: h * model.out.W.array[0, 0]',
            'model.method{i} = model.out.forward',
            'Model.method{i} = lambda self, h: h * {v}\ndel model.method{i}',
        ),
    ),
    Part(
        'chainer.report({{"first": h.array[0, 0], "second": F.max(h)}}, self)\n'
        'with chainer.report_scope(self.seen{i}):\n    chainer.report({{"x": F.sum(h.array)}})',
        'self.seen{i} = {{}}',
        '',
        ('model.seen{i}.clear()',),
    ),
    Part(
        'seen = {{}}\nif chainer.reporter._get_reporters():\n'
        '    with chainer.report_scope(seen):\n        chainer.report({{"x": F.mean(h)}}, self)\n'
        '    h = h * 2',
    ),
    Part(
        'if self.looks{i} and chainer.reporter._get_reporters():\n'
        '    observation = chainer.reporter.get_current_reporter().observation\n'
        '    h = h * (1 + len(observation))\n    observation["h{i}"] = h.array[0]',
        'self.looks{i} = True',
    ),
    # Own functions and links.
    Part(
        'h = Square{i}().apply((h,))[0]',
        '',
        """
            class Square{i}(chainer.FunctionNode):
                factor = 0.5
                def forward(self, inputs):
                    self.retain_inputs((0,))
                    return inputs[0] * inputs[0] * self.factor,
                def backward(self, indexes, gys):
                    x, = self.get_retained_inputs()
                    return gys[0] * x * (2 * self.factor),
        """,
        ('Square{i}.factor = {v}',),
    ),
    Part(
        'h = self.c{i}(h)',
        'self.c{i} = chainer.Sequential(L.Linear(6, 6), F.relu).repeat(2)',
        '',
        (
            'model.c{i}[0][0].W.array *= {v}',
            'model.c{i}.insert(1, F.sigmoid)',
            'del model.c{i}[0]',
            'model.c{i} = copy.deepcopy(model.c{i})',
            'model.c{i}[0][0].disable_update()',
            'model.c{i}.enable_update()',
            'model.c{i} = model.c{i}.flatten()',
        ),
    ),
    Part(
        'h = self.e{i}(t % 3) + h',
        'self.e{i} = L.EmbedID(3, 6, ignore_label=-1)',
        '',
        ('model.e{i}.ignore_label = int({v})', 'model.e{i}.W.array[1] = {v}'),
    ),
    Part('t64 = t.astype("l")\nh = h + F.sum(F.select_item(h, t64)) * 0.1'),
    Part(
        'h = self.ln{i}(h)',
        'self.ln{i} = L.LayerNormalization(6)',
        '',
        ('model.ln{i}.eps = 0.1', 'model.ln{i}.gamma.array[...] = {v}'),
    ),
)
