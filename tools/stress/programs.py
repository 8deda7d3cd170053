"""Parts of the programs of the stress for ``chainer.compile``."""

from __future__ import annotations

import re
from typing import NamedTuple

VALUES = '1.0', '1', 'True', '0.5', '2.0', '0.0', '-0.0', '3'


class Part(NamedTuple):
    """A part of a program, which keeps the shape ``(n, 6)`` of ``h``.

    Attributes:
        forward: Lines of the model's ``forward``.
        init: Lines of its ``__init__``, within ``init_scope``.
        outside: Lines of the module.
        changes: What may change, with ``{v}`` for a value. The names are those of the module.
            Numbers and switches of the model change without being named here.

    """

    forward: str
    init: str = ''
    outside: str = ''
    changes: tuple[str, ...] = ()

    def all_changes(self) -> list[str]:
        """Returns the lines that may change something."""
        changes = list(self.changes)
        for name, value in re.findall(r'self\.(\w+\{i\}) = ([\d.]+|True|False)$', self.init, re.M):
            is_switch = value in ('True', 'False')
            changes.append(f'model.{name} = ' + (f'not model.{name}' if is_switch else '{v}'))
        return changes


# ``{i}`` is the number of the part.
PARTS = (
    Part('h = h * self.a{i}', 'self.a{i} = 0.5', '', ('model.a{i} = 0.5',)),
    Part(
        'h = self.l{i}(h)',
        'self.l{i} = L.Linear(6, 6)',
        """
            class Twice{i}(chainer.LinkHook):
                name = 'Twice'
                def forward_postprocess(self, args):
                    args.out.array[...] *= 2
        """,
        (
            'model.l{i}.W.array[...] = {v}',
            'model.l{i}.W.array *= 0.5',
            'model.l{i}.W.array = model.l{i}.W.array.copy()',
            'model.l{i}.W.array = model.l{i}.W.array * 0.5',
            'model.l{i}.W.grad = model.l{i}.W.array * {v}',
            'model.l{i}.b.cleargrad()',
            'model.l{i}.disable_update()',
            'model.l{i}.enable_update()',
            'model.l{i}.W.update_rule.enabled = {v} == 1',
            'model.l{i}.W.update_rule.hyperparam.lr = {v}',
            'model.l{i}.b.array[1] = {v}',
            'model.l{i}.add_hook(Twice{i}())',
            'model.l{i}.delete_hook("Twice")',
            'setattr(model.l{i}, "forward", lambda x, n_batch_axes=1: F.tanh(x))',
            'delattr(model.l{i}, "forward")',
        ),
    ),
    Part(
        'h = F.cast(self.half{i}(F.cast(h, self.half{i}.W.dtype)), "float32")',
        """
            with chainer.using_config('dtype', chainer.mixed16):
                self.half{i} = L.Linear(6, 6)
        """,
        '',
        (
            'optimizer.use_fp32_update({v} == 1)',
            'optimizer.use_fp32_update()',
            'model.half{i}.W.update_rule.use_fp32_update({v} == 1)',
            'model.half{i}.W.update_rule._fp32_param = None',
            'model.half{i}.b.update_rule._fp32_param.array[...] = {v}',
            'model.half{i}.b.update_rule._fp32_param.array *= 0.5',
            'model.half{i}.W.array = model.half{i}.W.array.astype("float32")',
            'model.half{i}.b.update_rule.add_hook(hooks.WeightDecay({v}))',
        ),
    ),
    Part(
        'h = self.bn{i}(h)',
        'self.bn{i} = L.BatchNormalization(6)',
        '',
        (
            'model.bn{i}.eps = 1e-2',
            'model.bn{i}.eps = 2e-5',
            'model.bn{i}.decay = 0.5',
            'model.bn{i}.avg_mean[...] = {v}',
            'model.bn{i}.avg_var = model.bn{i}.avg_var * 2',
            'model.bn{i}.start_finetuning()',
        ),
    ),
    Part('h = self.rnn{i}(h)', 'self.rnn{i} = L.LSTM(6, 6)', '', ('model.rnn{i}.reset_state()',)),
    Part(
        'h = self.gru{i}(h)',
        'self.gru{i} = L.StatefulGRU(6, 6)',
        '',
        ('model.gru{i}.reset_state()',),
    ),
    Part(
        'h = F.concat(self.nstep{i}(None, None, [h[:1], h[1:]][::-1])[2], 0) + h',
        'self.nstep{i} = L.NStepLSTM(2, 6, 6, 0.0)',
        '',
        ('model.nstep{i}.dropout = 0.5', 'model.nstep{i}.dropout = 0.0'),
    ),
    Part(
        'h = F.dropout(h, self.ratio{i})',
        'self.ratio{i} = 0.5',
        '',
        ('model.ratio{i} = 0.2', 'model.ratio{i} = 0.5', 'model.ratio{i} = 0.0'),
    ),
    Part('h = h * G{i}', '', 'G{i} = 1.5', ('G{i} = {v}',)),
    Part(
        'h = h * D{i}["a"][0] + len(D{i})',
        '',
        'D{i} = {{"a": [1.5, 2]}}',
        ('D{i}["a"][0] = {v}', 'D{i}["b"] = {v}', 'D{i}.pop("b")', 'D{i}["a"] = [{v}]'),
    ),
    Part(
        'h = f{i}(h)',
        '',
        """
            def make{i}():
                number, numbers = 2.0, [2.0]
                def f(h):
                    return h * number + numbers[0]
                def change(v):
                    nonlocal number
                    number = v
                return f, change, numbers
            f{i}, change{i}, numbers{i} = make{i}()
        """,
        ('change{i}({v})', 'numbers{i}[0] = {v}', 'f{i} = make{i}()[0]', 'f{i} = F.tanh'),
    ),
    Part(
        'h = g{i}(h)',
        '',
        """
            def g{i}(h, a=1.0, *, b=2.0):
                return h * a + b
            def other{i}(h, a=1.0, *, b=2.0):
                return h * a - b
        """,
        (
            'g{i}.__defaults__ = ({v},)',
            'g{i}.__kwdefaults__["b"] = {v}',
            'g{i}.__code__ = other{i}.__code__',
            'g{i}.__kwdefaults__ = {{"b": {v}}}',
        ),
    ),
    Part(
        'h = self.o{i}(h)',
        'self.o{i} = Own{i}()',
        """
            class Base{i}:
                factor = 1.5
                def __call__(self, h):
                    return self.shift(h) * self.factor + self.items[0] + self.twice
                @staticmethod
                def shift(h):
                    return h + 1
                @property
                def twice(self):
                    return self.number * 2
            class Own{i}(Base{i}):
                def __init__(self):
                    self.items, self.number = [1.0], 1.0
            class Another{i}(Own{i}):
                def shift(self, h):
                    return h - 1
        """,
        (
            'Base{i}.factor = {v}',
            'Own{i}.factor = {v}',
            'model.o{i}.factor = {v}',
            'del Own{i}.factor',
            'model.o{i}.items[0] = {v}',
            'model.o{i}.number = {v}',
            'model.o{i} = Own{i}()',
            'model.o{i}.__class__ = Another{i}',
            'model.o{i}.__class__ = Own{i}',
            'Base{i}.shift = staticmethod(lambda h: h * {v})',
            'model.o{i}.__dict__ = {{"items": [{v}], "number": 1}}',
        ),
    ),
    Part(
        'for l in self.ls{i}:\n    h = l(h)',
        'self.ls{i} = chainer.ChainList(L.Linear(6, 6), L.Linear(6, 6))',
        '',
        (
            'model.ls{i}.append(L.Linear(6, 6).to_device(DEVICE))',
            'model.ls{i}[0].W.array[...] = {v}',
            'model.ls{i}[0].b.array += {v}',
        ),
    ),
    Part(
        'h = self.s{i}(h)',
        'self.s{i} = chainer.Sequential(L.Linear(6, 6), F.tanh)',
        '',
        ('model.s{i}.append(F.relu)', 'del model.s{i}[1]', 'model.s{i}[0].W.array *= {v}'),
    ),
    Part(
        'for f in self.fs{i}:\n    h = f(h)',
        'self.fs{i} = [F.relu, F.tanh]',
        '',
        (
            'model.fs{i}.append(F.sigmoid)',
            'del model.fs{i}[2:]',
            'model.fs{i}[0] = F.elu',
            'model.fs{i} = (F.relu,)',
            'model.fs{i} = [lambda h: h * {v}]',
        ),
    ),
    Part(
        'if chainer.config.train:\n    h = h * 2\nh = h * getattr(chainer.config, "own{i}", 1.0)',
        '',
        '',
        ('chainer.config.own{i} = {v}', 'chainer.global_config.own{i} = {v}'),
    ),
    Part(
        'h = h * chainerx.array(M{i}, device=DEVICE)',
        '',
        'M{i} = np.ones(6, "f")',
        (
            'M{i}[2] = {v}',
            'M{i} = np.full(6, {v}, "f")',
            'M{i}[:] = np.arange(6)',
            'M{i} = M{i}[::-1]',
            'M{i} = M{i}[::-1].copy()',
            'M{i}.shape = 1, 6',
        ),
    ),
    Part(
        'h = F.where(self.mask{i}, h, 0.5)',
        'self.mask{i} = np.arange(6) < 3',
        '',
        ('model.mask{i}[4] = {v}', 'model.mask{i} = np.arange(6) > {v}'),
    ),
    Part(
        'h = h[:, self.perm{i}]',
        'self.perm{i} = [2, 0, 1, 3, 5, 4]',
        '',
        ('model.perm{i}[0] = 3', 'model.perm{i}[1] = int({v})', 'model.perm{i}.reverse()'),
    ),
    Part(
        'h = F.get_item(h, (slice(None), self.index{i}))',
        'self.index{i} = np.arange(6)[::-1].copy()',
        '',
        ('model.index{i}[0] = 3', 'model.index{i}[1] = int({v})'),
    ),
    Part(
        'h = h + chainerx.array([self.low{i}, 2.0, 3, 4, 5, 6], "float32", device=DEVICE)',
        'self.low{i} = 0.5',
    ),
    Part(
        'h = h + self.x{i}',
        'self.x{i} = chainerx.ones(6, "float32", device=DEVICE)',
        '',
        (
            'model.x{i} = chainerx.full((6,), {v}, "float32", device=DEVICE)',
            'model.x{i}[...] = {v}',
            'model.x{i} = model.x{i}[None]',
        ),
    ),
    Part('h = h * self.n{i}', 'self.add_persistent("n{i}", 1.5)', '', ('model.n{i} = {v}',)),
    Part(
        'h = F.cast(F.cast(h, self.d{i}), "float32")',
        'self.d{i} = "float64"',
        '',
        ('model.d{i} = "float16"', 'model.d{i} = "float64"', 'model.d{i} = np.dtype("float32")'),
    ),
    Part(
        'h = P{i}(h)',
        '',
        'P{i} = functools.partial(F.clip, x_min=-1.0, x_max=1.0)',
        ('P{i} = functools.partial(F.clip, x_min=-1.0, x_max=0.5)', 'P{i} = F.relu'),
    ),
    Part(
        'h = h * len(f"{{self.text{i}}}")',
        'self.text{i} = "ab"',
        '',
        ('model.text{i} = "abc"', 'model.text{i} = ["ab"]', 'model.text{i} = "cd"'),
    ),
    Part(
        'if self.last{i} is not None:\n    h = h + self.last{i} * 0.5\nself.last{i} = F.tanh(h)',
        'self.last{i} = None',
        '',
        ('model.last{i} = None', 'model.last{i} = chainer.Variable(chainerx.ones((3, 6), "f"))'),
    ),
    Part(
        'h = F.forget(lambda h: F.tanh(h) * self.k{i}, h)',
        'self.k{i} = 0.5',
    ),
    Part('h = h * (2 if len(h) > 2 else 3)'),
    Part(
        'h = F.scale(h, self.p{i})',
        'self.p{i} = chainer.Parameter(1.0, (6,))',
        '',
        ('model.p{i}.array[...] = {v}', 'model.p{i}.name = "q"', 'model.p{i}.zerograd()'),
    ),
    Part('h = F.concat([F.relu(h[:, :3]), F.tanh(h[:, 3:])]) + F.softmax(h)'),
    Part('h = h + F.select_item(h, t)[:, None]'),
    Part(
        'h = h + F.hinge(h, t) + F.accuracy(h, t, self.ignored{i})',
        'self.ignored{i} = 1',
        '',
        ('model.ignored{i} = None', 'model.ignored{i} = 0', 'model.ignored{i} = 1'),
    ),
    Part('chainer.report({{"mean": F.mean(h)}}, self)'),
    # Kinds of objects, each of which has members of its own that may change.
    Part(
        'h = h * (w{i}.s + w{i}.more[0] + len(w{i}.__name__) + len(w{i}.__doc__ or ""))',
        '',
        """
            def w{i}():
                pass
            w{i}.s, w{i}.more = 1.0, [0.5]
        """,
        (
            'w{i}.s = {v}',
            'w{i}.more[0] = {v}',
            'w{i}.__name__ = "abc"[:int({v})]',
            'w{i}.__doc__ = "abc"[:int({v})]',
            'w{i}.__dict__ = {{"s": {v}, "more": [1]}}',
        ),
    ),
    Part(
        'h = Q{i}(h) * Q{i}.s',
        '',
        """
            def q{i}(a, h, *, b):
                return h * a[0] + b
            Q{i} = functools.partial(q{i}, [1.0], b=0.5)
            Q{i}.s = 1.0
        """,
        (
            'Q{i}.keywords["b"] = {v}',
            'Q{i}.args[0][0] = {v}',
            'Q{i}.s = {v}',
            'Q{i}.__setstate__((q{i}, ([{v}],), {{"b": 0.5}}, {{"s": 1.0}}))',
        ),
    ),
    Part(
        'h = h * (R{i} * R{i}.s + M{i}.A * M{i}.A.s)',
        '',
        """
            class Rate{i}(float):
                pass
            class M{i}(enum.IntEnum):
                A = 1
            R{i} = Rate{i}(1.0)
            R{i}.s, M{i}.A.s = 1.0, 0.5
        """,
        ('R{i}.s = {v}', 'M{i}.A.s = {v}', 'R{i} = Rate{i}({v}); R{i}.s = 1.0'),
    ),
    Part(
        'h = h * (N{i}.s + N{i}().t + isinstance(N{i}(), Abstract{i}) + len(N{i}.__name__))',
        '',
        """
            class Meta{i}(type):
                s = 1.0
            class A{i}:
                t = 0.5
            class B{i}:
                t = 1.5
            class N{i}(A{i}, metaclass=Meta{i}):
                pass
            class Abstract{i}(abc.ABC):
                pass
        """,
        (
            'Meta{i}.s = {v}',
            'N{i}.s = {v}',
            'A{i}.t = {v}',
            'N{i}.__bases__ = (B{i},)',
            'N{i}.__bases__ = (A{i},)',
            'N{i}.__name__ = "N" * int({v})',
            'Abstract{i}.register(N{i})',
        ),
    ),
    Part(
        'h = h * (getattr(chainer.config, "list{i}", [1.0])[0] + ch.number{i} + builtin{i})',
        '',
        'ch.number{i} = builtins.builtin{i} = 1.0',
        (
            'chainer.config.list{i} = [{v}]',
            'chainer.config.list{i}[0] = {v}',
            'chainer.number{i} = {v}',
            'builtins.builtin{i} = {v}',
            'builtin{i} = {v}',
        ),
    ),
    Part(
        'o = program.optimizer\nh = h * (getattr(o, "own{i}", [1.0])[0] + len(self.name or ""))\n'
        'h = h * getattr(self.out.W, "own{i}", [0.5])[0]',
        '',
        '',
        (
            'optimizer.own{i} = [{v}]',
            'optimizer.own{i}[0] = {v}',
            'model.out.W.own{i} = [{v}]',
            'model.out.W.own{i}[0] = {v}',
            'model.name = "a" * int({v})',
            'chainer.Parameter.own{i} = [{v}]',
            'del chainer.Parameter.own{i}',
        ),
    ),
    Part(
        'if self.state{i} is not None and len(self.state{i}) != len(h):\n    h = h * 2\n'
        'self.state{i} = h.array * 0.5',
        'self.state{i} = None',
        '',
        (
            'model.state{i} = None',
            'model.state{i} = chainerx.ones((2, 6), "f")',
            'model.state{i} = chainerx.ones((3, 6), "d")',
        ),
    ),
    Part(
        'match self.box{i}:\n    case Box{i}(s=s):\n        h = h * s',
        'self.box{i} = Box{i}()',
        """
            class Box{i}:
                s = 1.0
        """,
        ('model.box{i}.s = {v}', 'Box{i}.s = {v}', 'model.box{i} = None', 'del model.box{i}.s'),
    ),
    # Random numbers of both generators, between those of dropout.
    Part(
        'h = h + chainerx.random.normal(self.loc{i}, 0.1, h.shape, "float32", DEVICE)',
        'self.loc{i} = 0.5',
        '',
        ('model.loc{i} = np.float32({v})', 'model.loc{i} = np.ones(6) * {v}'),
    ),
    Part('h = h * chainerx.random.uniform(size=6, dtype="float32", device=DEVICE)'),
    Part('h = h[chainerx.random.permutation(len(h), DEVICE)]'),
    Part(
        'h = h + chainerx.random.choice(self.n{i}, h.shape, device=DEVICE).astype("f")',
        'self.n{i} = 3',
        '',
        ('model.n{i} = 3', 'model.n{i} = 2', 'model.n{i} = 0'),
    ),
    Part('h = F.gaussian(h, h * 0.1)'),
    Part(
        'z = np.random.normal(0, self.s{i}, h.shape)\n'
        'h = h + chainerx.array(z, "f", device=DEVICE)',
        'self.s{i} = 0.5',
        '',
        ('model.s{i} = [0.5] * 6',),
    ),
    Part('h = h * self.device.send(np.random.randint(1, 3, 6).astype("f"))'),
    Part('z = np.random.rand(6).astype("f")\nh = h + chainerx.array(z) * (z[0] > 0.5)'),
)
