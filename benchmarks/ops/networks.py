"""Operations of neural networks; PyTorch is the only one beside chainerx that has them."""

from ops.base import Row, uniform


def _with_gradient(label, arrays, torch, bare, output):
    """Rows of the forward pass, and of it with the backward pass."""

    def with_gradient():
        return {**arrays(), 'gy': uniform(*output, seed=1)}

    return [
        Row(f'{label} forward', arrays, None, torch, bare),
        Row(
            f'{label} forward and backward',
            with_gradient,
            None,
            ('x.requires_grad_()', f'torch.autograd.grad({torch}, x, gy)[0]'),
            ('x.require_grad()', f'chx.grad([{bare}], [x], grad_outputs=[gy])[0]'),
        ),
    ]


def _conv(batch, channels, size, out_channels, kernel, stride, wanted=('x', 'w')):
    """Rows of the forward pass, and of the backward pass by each of ``wanted``."""
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    label = (
        f'conv {kernel}x{kernel}/{stride} {channels}-{out_channels}, {size}x{size}, batch {batch}'
    )
    torch = f'F.conv2d(x, w, None, {stride}, {pad})'
    bare = f'chx.conv(x, w, None, {stride}, {pad})'

    def arrays():
        return {
            'x': uniform(batch, channels, size, size, seed=1),
            'w': uniform(out_channels, channels, kernel, kernel, seed=2),
            'gy': uniform(batch, out_channels, out, out, seed=3),
        }

    rows = [Row(f'{label} forward', arrays, None, torch, bare)]
    for name in wanted:
        rows.append(
            Row(
                f'{label} backward by {name}',
                arrays,
                None,
                (
                    f'{name}.requires_grad_()\ny = {torch}',
                    f'torch.autograd.grad(y, {name}, gy, retain_graph=True)[0]',
                ),
                # Recording the backward pass keeps the graph.
                (
                    f'{name}.require_grad()\ny = {bare}',
                    f'chx.grad([y], [{name}], grad_outputs=[gy], enable_double_backprop=True)[0]',
                ),
            )
        )
    return rows


_CONVOLUTIONS = [
    # ResNet-18 on 64x64 images, whose first layers do not shrink them
    *_conv(8, 64, 64, 64, 3, 1),
    *_conv(8, 64, 64, 128, 3, 2),
    *_conv(8, 64, 64, 128, 1, 2),
    *_conv(8, 128, 32, 128, 3, 1),
    *_conv(8, 128, 32, 256, 3, 2),
    *_conv(8, 256, 16, 256, 3, 1),
    *_conv(8, 256, 16, 512, 3, 2),
    *_conv(8, 512, 8, 512, 3, 1),
    *_conv(8, 256, 16, 512, 1, 2),
    # ResNet-18 on 224x224 images
    *_conv(1, 64, 56, 64, 3, 1),
    *_conv(1, 512, 7, 512, 3, 1),
    # First layers
    *_conv(4, 3, 224, 64, 7, 2, ('w',)),
    *_conv(32, 3, 32, 32, 3, 1, ('w',)),
]


def _images():
    return {'x': uniform(16, 64, 32, 32)}


def _normalized():
    return {
        'x': uniform(16, 64, 32, 32),
        'gamma': uniform(64, low=0.5, high=1.5),
        'beta': uniform(64),
        'mean': uniform(64),
        'var': uniform(64, low=0.5, high=1.5),
    }


def _rows():
    return {
        'x': uniform(1000, 1000),
        'gamma': uniform(1000, low=0.5, high=1.5),
        'beta': uniform(1000),
    }


_OTHERS = [
    *_with_gradient('relu', _rows, 'torch.relu(x)', 'chx.relu(x)', (1000, 1000)),
    *_with_gradient('sigmoid', _rows, 'torch.sigmoid(x)', 'chx.sigmoid(x)', (1000, 1000)),
    *_with_gradient('tanh', _rows, 'torch.tanh(x)', 'chx.tanh(x)', (1000, 1000)),
    *_with_gradient('softmax', _rows, 'torch.softmax(x, 1)', 'chx.softmax(x, 1)', (1000, 1000)),
    *_with_gradient(
        'log_softmax', _rows, 'torch.log_softmax(x, 1)', 'chx.log_softmax(x, 1)', (1000, 1000)
    ),
    Row('softmax axis 0', _rows, None, 'torch.softmax(x, 0)', 'chx.softmax(x, 0)'),
    *_with_gradient(
        'batch_norm',
        _normalized,
        'F.batch_norm(x, mean, var, gamma, beta, True, 0.1, 2e-5)',
        'chx.batch_norm(x, gamma, beta, mean, var)',
        (16, 64, 32, 32),
    ),
    Row(
        'fixed_batch_norm',
        _normalized,
        None,
        'F.batch_norm(x, mean, var, gamma, beta, False, 0.1, 2e-5)',
        'chx.fixed_batch_norm(x, gamma, beta, mean, var)',
    ),
    *_with_gradient(
        'layer_norm',
        _rows,
        'F.layer_norm(x, (1000,), gamma, beta)',
        'chx.layer_norm(x, gamma, beta)',
        (1000, 1000),
    ),
    *_with_gradient(
        'max_pool 2x2/2', _images, 'F.max_pool2d(x, 2)', 'chx.max_pool(x, 2)', (16, 64, 16, 16)
    ),
    *_with_gradient(
        'max_pool 3x3/2',
        _images,
        'F.max_pool2d(x, 3, 2, 1)',
        'chx.max_pool(x, 3, 2, 1)',
        (16, 64, 16, 16),
    ),
    *_with_gradient(
        'average_pool 2x2/2',
        _images,
        'F.avg_pool2d(x, 2)',
        'chx.average_pool(x, 2)',
        (16, 64, 16, 16),
    ),
    *_with_gradient(
        'average_pool, all',
        _images,
        'F.avg_pool2d(x, 32)',
        'chx.average_pool(x, 32)',
        (16, 64, 1, 1),
    ),
    *_with_gradient(
        'linear',
        lambda: {'x': uniform(100, 784), 'w': uniform(1000, 784), 'b': uniform(1000)},
        'F.linear(x, w, b)',
        'chx.linear(x, w, b)',
        (100, 1000),
    ),
]

ROWS = _CONVOLUTIONS + _OTHERS
