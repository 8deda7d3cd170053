"""A step of a language model that makes one token, in ONNX, with weights of 32, 8 or 4 bits.

The model has layers of attention over a cache of past tokens, as GPT has. Its weights are random.
Those of few bits are for ``MatMulNBits`` of ONNX Runtime, with a scale for each block of 32 inputs.
"""

from typing import NamedTuple

import numpy as np

BLOCK = 32


class Decoder(NamedTuple):
    """Sizes of a model."""

    layers: int
    units: int
    heads: int
    vocabulary: int
    past: int  # tokens in the cache


SIZES = {
    'decoder': Decoder(8, 512, 8, 10000, 128),  # 30 million weights
    'decoder-tiny': Decoder(1, 64, 2, 100, 8),
}


def quantized(w, bits):
    """The inputs of ``MatMulNBits`` for a matrix (inputs, outputs)."""
    blocks = w.T.reshape(w.shape[1], -1, BLOCK)
    most = 2 ** (bits - 1) - 1
    scale = abs(blocks).max(2, keepdims=True) / most
    q = (np.rint(blocks / scale) + most + 1).astype(np.uint8)
    if bits == 4:
        q = q[..., ::2] | q[..., 1::2] << 4
    return q, scale[..., 0].astype('f')


class _Builder:
    """Collects the nodes and the constants of a graph."""

    def __init__(self, bits, level):
        self.nodes = []
        self.constants = []
        self.bits = bits
        self.level = level
        self.random = np.random.RandomState(0)

    def node(self, op, *inputs, **attributes):
        from onnx import helper

        out = f'{op}_{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def constant(self, array):
        from onnx import numpy_helper

        name = f'constant_{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def linear(self, x, inputs, outputs):
        w = self.random.normal(0, inputs**-0.5, (inputs, outputs)).astype('f')
        if self.bits == 32:
            return self.node('MatMul', x, self.constant(w))
        parts = map(self.constant, quantized(w, self.bits))
        sizes = {'K': inputs, 'N': outputs, 'bits': self.bits, 'block_size': BLOCK}
        return self.node(
            'MatMulNBits', x, *parts, domain='com.microsoft', accuracy_level=self.level, **sizes
        )

    def norm(self, x, units):
        ones, zeros = (self.constant(np.full(units, value, 'f')) for value in (1, 0))
        return self.node('LayerNormalization', x, ones, zeros)

    def attention(self, x, past, units, heads):
        """``past`` are the keys (heads, units, tokens) and values (heads, tokens, units)."""
        shape = self.constant(np.array([heads, 1, units // heads]))
        turned = self.constant(np.array([heads, units // heads, 1]))
        q, k, v = (self.linear(x, units, units) for _ in range(3))
        k = self.node('Concat', past[0], self.node('Reshape', k, turned), axis=2)
        v = self.node('Concat', past[1], self.node('Reshape', v, shape), axis=1)
        scale = self.constant(np.array((units / heads) ** -0.5, 'f'))
        scores = self.node('MatMul', self.node('Mul', self.node('Reshape', q, shape), scale), k)
        y = self.node('MatMul', self.node('Softmax', scores, axis=-1), v)
        y = self.node('Reshape', y, self.constant(np.array([1, units])))
        return self.linear(y, units, units), k, v


def write(path, sizes, bits, level=0):
    """Writes a model as a file, and returns inputs by name.

    ``level`` is the ``accuracy_level`` of the products: with 4, they may round their inputs.
    """
    import onnx
    from onnx import helper

    graph = _Builder(bits, level)
    size = sizes.units // sizes.heads
    feeds = {'x': graph.random.normal(size=(1, sizes.units)).astype('f')}
    h, outputs = 'x', []
    for i in range(sizes.layers):
        past = f'keys_{i}', f'values_{i}'
        shapes = (sizes.heads, size, sizes.past), (sizes.heads, sizes.past, size)
        for name, shape in zip(past, shapes, strict=True):
            feeds[name] = graph.random.normal(size=shape).astype('f')
        y, *cache = graph.attention(graph.norm(h, sizes.units), past, sizes.units, sizes.heads)
        outputs += cache
        h = graph.node('Add', h, y)
        y = graph.linear(graph.norm(h, sizes.units), sizes.units, 4 * sizes.units)
        y = graph.linear(graph.node('Gelu', y), 4 * sizes.units, sizes.units)
        h = graph.node('Add', h, y)
    outputs.insert(0, graph.linear(graph.norm(h, sizes.units), sizes.units, sizes.vocabulary))
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            'decoder',
            [helper.make_tensor_value_info(name, 1, x.shape) for name, x in feeds.items()],
            [helper.make_tensor_value_info(name, 1, None) for name in outputs],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid('', 20), helper.make_opsetid('com.microsoft', 1)],
        ir_version=9,
    )
    onnx.save(model, path)
    return feeds
