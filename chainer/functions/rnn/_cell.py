"""LSTM cells with any number of children, on arrays.

All of them are :math:`c = \\sum_j \\tanh(a_j) \\sigma(i_j) + \\sum_k \\sigma(f_k) c_k` and
:math:`h = \\sigma(o) \\tanh(c)`. Activated gates are kept in one array ``z`` in the order
``a..., i..., f..., o``, so that one call serves all gates.
"""

from __future__ import annotations

import chainer
import chainerx
from chainer._fallback import Fallback
from chainer.backends import cuda
from chainer.functions._fused import FusedFunction


def sigmoid(m, x):
    # The tanh form cannot overflow.
    return m.tanh(x * 0.5) * 0.5 + 0.5


def activate(xp, z, n_tanh):
    """Activates gates in place: tanh for the first ``n_tanh``, sigmoid for the others."""
    gates = z[n_tanh:]
    gates *= 0.5
    xp.tanh(z, out=z)
    gates *= 0.5
    gates += 0.5


def state(xp, z, n_tanh, children):
    """Returns the new cell state and its tanh, from activated gates."""
    c = z[0] * z[n_tanh]
    for j in range(1, n_tanh):
        c += z[j] * z[n_tanh + j]
    for f, child in zip(z[2 * n_tanh :], children):
        c += f * child
    return c, xp.tanh(c)


def gradients(xp, z, n_tanh, children, tanh_c, gc, gh, out=None):
    """Gradients of raw gates, as an array like ``z``, and of the new cell state."""
    a, i, o = z[:n_tanh], z[n_tanh : 2 * n_tanh], z[-1]
    if gh is None:
        gc_all = gc
    else:
        gc_all = 1 - tanh_c * tanh_c
        gc_all *= o
        gc_all *= gh
        if gc is not None:
            gc_all += gc
    gz = xp.multiply(z, z, out=out)
    xp.subtract(1, gz[:n_tanh], out=gz[:n_tanh])
    xp.subtract(z[n_tanh:], gz[n_tanh:], out=gz[n_tanh:])
    gz[:n_tanh] *= i
    gz[n_tanh : 2 * n_tanh] *= a
    for g, child in zip(gz[2 * n_tanh :], children):
        g *= child
    gz[:-1] *= gc_all
    if gh is None:
        gz[-1] = 0
    else:
        gz[-1] *= tanh_c
        gz[-1] *= gh
    return gz, gc_all


class Cell(FusedFunction):
    """Base of LSTM cells: outputs are the new cell state and the new hidden state.

    Subclasses define the layout of the gates in the inputs with :meth:`_gates` and
    :meth:`_input_gradients`.

    """

    #: Number of pairs of input values and input gates.
    n_tanh = 1
    chainerx_routine = None
    _checked_natively = True

    def _gates(self, inputs):
        """Raw gates ``[a..., i..., f..., o]`` and cell states of the children.

        It works on arrays and variables.

        """
        raise NotImplementedError

    def _input_gradients(self, inputs, gz, gcs, gc):
        """Gradients of all inputs, from those of gates, of children and of the cell state."""
        raise NotImplementedError

    def _whole_state(self, concatenate, c, inputs):
        """Output for the new cell states ``c`` (LSTM carries over finished sequences)."""
        return c

    def forward_chainerx(self, inputs):
        routine = getattr(chainerx, self.chainerx_routine, None)
        return Fallback if routine is None else tuple(routine(*inputs))

    def forward(self, inputs):
        self.retain_inputs(range(len(inputs)))
        xp = cuda.get_array_module(inputs[0])
        gates, children = self._gates(inputs)
        self._z = z = xp.empty((len(gates), *gates[0].shape), gates[0].dtype)
        for to, gate in zip(z, gates):
            to[...] = gate
        activate(xp, z, self.n_tanh)
        c, self._tanh_c = state(xp, z, self.n_tanh, children)
        return self._whole_state(xp.concatenate, c, inputs), z[-1] * self._tanh_c

    def gradients(self, targets, xs, ys, gys):
        xp = cuda.get_array_module(xs[0])
        z, n = self._z, self.n_tanh
        children = self._gates(xs)[1]
        gc, gh = gys
        gz, gc_all = gradients(
            xp, z, n, children, self._tanh_c, None if gc is None else gc[: z.shape[1]], gh
        )
        gcs = [f * gc_all for f in z[2 * n : -1]]
        gxs = self._input_gradients(xs, gz, gcs, gc)
        return [gxs[i] for i in targets]

    def compose(self, *xs):
        F = chainer.functions
        gates, children = self._gates(xs)
        n = self.n_tanh
        a = [F.tanh(x) for x in gates[:n]]
        s = [F.sigmoid(x) for x in gates[n:]]
        c = F.add(*[x * y for x, y in zip(a, s)], *[f * child for f, child in zip(s[n:], children)])
        concatenate = lambda parts: F.concat(parts, axis=0)
        return self._whole_state(concatenate, c, xs), s[-1] * F.tanh(c)


def grad_grad(xp, pairs, children, o, c, gc, gh, gg_pairs, gg_children, ggo):
    """Gradients of the gradients of a cell.

    Args:
        pairs: Pairs of raw gates (a, i).
        children: Pairs of cell states and raw forget gates (c_k, f_k).
        o, c: Raw output gate and new cell state.
        gc, gh: Gradients of the new states.
        gg_pairs, gg_children, ggo: Gradients with respect to the gradients of ``pairs``,
            ``children`` and ``o``.

    Returns:
        Gradients of ``pairs``, of ``children``, of ``o``, ``c``, ``gc`` and ``gh``; ``c`` counts
        as a separate input.

    """
    so, tc = sigmoid(xp, o), xp.tanh(c)
    so_1 = so * (1 - so)
    tc_1 = 1 - tc * tc
    gc_all = gc + gh * so * tc_1
    ggc = 0
    g_pairs = []
    for (a, i), (gga, ggi) in zip(pairs, gg_pairs):
        ta, si = xp.tanh(a), sigmoid(xp, i)
        ta_1, si_1 = 1 - ta * ta, si * (1 - si)
        ggc = ggc + gga * si * ta_1 + ggi * ta * si_1
        g_pairs.append(
            (
                gc_all * (ggi * ta_1 * si_1 - 2 * gga * si * ta * ta_1),
                gc_all * (gga * si_1 * ta_1 + ggi * ta * si_1 * (1 - 2 * si)),
            )
        )
    g_children = []
    for (c_k, f), (ggc_k, ggf) in zip(children, gg_children):
        sf = sigmoid(xp, f)
        sf_1 = sf * (1 - sf)
        ggc = ggc + ggf * c_k * sf_1 + ggc_k * sf
        g_children.append((gc_all * ggf * sf_1, gc_all * sf_1 * (ggf * c_k * (1 - 2 * sf) + ggc_k)))
    go = gh * so_1 * (ggc * tc_1 + ggo * tc * (1 - 2 * so))
    gc_next = gh * tc_1 * (ggo * so_1 - 2 * ggc * so * tc)
    ggh = ggc * so * tc_1 + ggo * tc * so_1
    return g_pairs, g_children, go, gc_next, ggc, ggh
