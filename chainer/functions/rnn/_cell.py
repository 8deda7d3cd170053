"""LSTM cells with any number of children, on arrays.

All of them are :math:`c = \\sum_j \\tanh(a_j) \\sigma(i_j) + \\sum_k \\sigma(f_k) c_k` and
:math:`h = \\sigma(o) \\tanh(c)`. Activated gates are kept in one array ``z`` in the order
``a..., i..., f..., o``, so that one call serves all gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer import backend
from chainer._core.reports.fallback import NO_NATIVE_PATH
from chainer.backends import cuda
from chainer.functions._base import Operation, kernels
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray


def sigmoid(m, x):
    """Sigmoid in a form that cannot overflow."""
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


def zeros_like(x):
    """Array of zeros for the gradient of an output that has none."""
    x = as_array(x)
    return backend.get_array_module(x).zeros_like(x)


class Cell(Operation):
    """Base of LSTM cells: outputs are the new cell state and the new hidden state.

    Subclasses tell where the gates are in the inputs, with :meth:`_gates` and
    :meth:`_input_gradients`, which are written for arrays and variables alike.

    """

    #: Number of pairs of input values and input gates.
    n_tanh = 1
    chainerx_routine: str
    _kernels = kernels(retain=None, check=True)

    def _gates(self, inputs):
        """Raw gates ``[a..., i..., f..., o]`` and cell states of the children."""
        raise NotImplementedError

    def _input_gradients(self, m, inputs, gates, children, gc):
        """Gradients of all inputs, from those of gates, of children and of the cell state."""
        raise NotImplementedError

    def _whole_state(self, xp, c, inputs):
        """Output for the new cell states ``c`` (LSTM carries over finished sequences)."""
        return c

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        routine = getattr(chainerx, self.chainerx_routine, None)
        return NO_NATIVE_PATH if routine is None else tuple(routine(*inputs))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        xp = cuda.get_array_module(inputs[0])
        gates, children = self._gates(inputs)
        z = xp.empty((len(gates), *gates[0].shape), gates[0].dtype)
        for to, gate in zip(z, gates):
            to[...] = gate
        activate(xp, z, self.n_tanh)
        c, tanh_c = state(xp, z, self.n_tanh, children)
        return self._whole_state(xp, c, inputs), z[-1] * tanh_c

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gates, children = self._gates(xs)
        n = self.n_tanh
        a = [m.tanh(x) for x in gates[:n]]
        *s, o = [sigmoid(m, x) for x in gates[n:]]
        i, f = s[:n], s[n:]
        first, *rest = [x * y for x, y in zip((*a, *f), (*i, *children))]
        tanh_c = m.tanh(sum(rest, first))
        gc, gh = gys
        if gh is None:
            gh = zeros_like(tanh_c)
        gc_all = gh * o * (1 - tanh_c * tanh_c)
        if gc is not None:
            gc_all = gc_all + gc[: gc_all.shape[0]]
        ggates = [
            *[gc_all * y * (1 - x * x) for x, y in zip(a, i)],
            *[gc_all * x * y * (1 - y) for x, y in zip((*a, *children), s)],
            gh * tanh_c * o * (1 - o),
        ]
        gxs = self._input_gradients(m, xs, ggates, [gc_all * y for y in f], gc)
        return [gxs[i] for i in targets]


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
