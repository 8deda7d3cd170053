"""Times one update of many small parameters: ``python benchmarks/optimizers.py``.

The table compares ``optimizer.update()`` on NumPy, on ChainerX and in PyTorch, and a loop of
``p -= lr * g`` over NumPy arrays. The variants take turns. ``--hooks`` adds a table of the
optimizer hooks.
"""

import argparse
import importlib.util
import os
import timeit

from run import THREAD_VARIABLES


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--parameters', type=int, default=100, help='number of parameters')
    parser.add_argument('--size', type=int, default=16, help='elements of a parameter')
    parser.add_argument('--links', type=int, default=1, help='links that share the parameters')
    parser.add_argument('--dtype', default='float32', help='dtype of the parameters')
    parser.add_argument('--threads', type=int, default=1, help='threads for every engine')
    parser.add_argument('--rounds', type=int, default=100, help='number of turns per variant')
    parser.add_argument('--calls', type=int, default=3, help='updates in a turn')
    parser.add_argument('--hooks', action='store_true', help='also time the optimizer hooks')
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = str(args.threads)

    import harness

    harness.print_machine(args.threads)
    print(
        f'{args.parameters} parameters of {args.size} elements, {args.dtype}, in {args.links} links'
    )
    print_optimizers(args)
    if args.hooks:
        print_hooks(args)


def cases():
    """Returns name, Chainer's optimizer, and PyTorch's name and arguments."""
    from chainer import optimizers as O

    return [
        ('SGD', O.SGD(), 'SGD', {'lr': 0.01}),
        ('MomentumSGD', O.MomentumSGD(), 'SGD', {'lr': 0.01, 'momentum': 0.9}),
        ('CorrectedMomentumSGD', O.CorrectedMomentumSGD(), 'SGD', {'lr': 0.01, 'momentum': 0.9}),
        ('NesterovAG', O.NesterovAG(), 'SGD', {'lr': 0.01, 'momentum': 0.9, 'nesterov': True}),
        ('AdaGrad', O.AdaGrad(), 'Adagrad', {}),
        ('AdaDelta', O.AdaDelta(), 'Adadelta', {}),
        ('RMSprop', O.RMSprop(), 'RMSprop', {}),
        ('RMSpropGraves', O.RMSpropGraves(), 'RMSprop', {'centered': True, 'momentum': 0.9}),
        ('SMORMS3', O.SMORMS3(), None, {}),
        ('Adam', O.Adam(), 'Adam', {}),
        ('AdamW', O.AdamW(weight_decay_rate=0.01), 'AdamW', {}),
        ('AMSGrad', O.AMSGrad(), 'Adam', {'amsgrad': True}),
        ('AdaBound', O.AdaBound(), None, {}),
        ('AMSBound', O.AMSBound(), None, {}),
        ('MSVAG', O.MSVAG(), None, {}),
    ]


def make_link(args, device):
    import numpy

    import chainer

    model = chainer.ChainList()
    rng = numpy.random.default_rng(0)
    per_link = args.parameters // args.links
    for _ in range(args.links):
        link = chainer.Link()
        for i in range(per_link):
            value = rng.uniform(-1, 1, args.size).astype(args.dtype)
            link.add_param(f'p{i}', initializer=value)
        model.append(link)
    model.to_device(device)
    for param in model.params():
        param.grad = param.device.send(rng.uniform(-1, 1, args.size).astype(args.dtype))
    return model


def bare_loop(args):
    import numpy

    rng = numpy.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, args.size).astype(args.dtype) for _ in range(args.parameters)]
    grads = [a.copy() for a in arrays]

    def step():
        for p, g in zip(arrays, grads):
            p -= 0.01 * g

    return step


def torch_step(args, name, kwargs):
    import torch

    dtype = getattr(torch, args.dtype)
    params = [
        torch.ones(args.size, dtype=dtype, requires_grad=True) for _ in range(args.parameters)
    ]
    for param in params:
        param.grad = torch.full_like(param, 0.5)
    return getattr(torch.optim, name)(params, **kwargs).step


def devices():
    import chainerx

    return ['@numpy'] + ['native:0'] * chainerx.is_available()


def microseconds(ways, args):
    """Returns the minimum time of each variant in microseconds, as text."""
    timers = {name: timeit.Timer(way) for name, way in ways.items()}
    for timer in timers.values():
        timer.timeit(20)  # initializes the states
    best: dict[str, float] = {}
    for _ in range(args.rounds):
        for name, timer in timers.items():
            best[name] = min(best.get(name, 1), timer.timeit(args.calls) / args.calls)
    return {name: f'{seconds * 1000000.0:.0f} us' for name, seconds in best.items()}


def print_optimizers(args):
    import copy

    import harness

    has_torch = importlib.util.find_spec('torch') is not None
    rows = []
    for name, optimizer, torch_name, kwargs in cases():
        ways = {'bare': bare_loop(args)}
        for device in devices():
            ways[device] = copy.deepcopy(optimizer).setup(make_link(args, device)).update
        if has_torch and torch_name:
            ways['torch'] = torch_step(args, torch_name, kwargs)
        times = microseconds(ways, args)
        rows.append([name, *(times.get(w, '-') for w in ('bare', '@numpy', 'native:0', 'torch'))])
    harness.print_table(
        ['update', '`p -= lr * g` on NumPy', 'Chainer on NumPy', 'Chainer on ChainerX', 'PyTorch'],
        rows,
    )


def print_hooks(args):
    import harness

    from chainer import optimizer_hooks as H, optimizers as O

    hooks = [
        None,
        H.WeightDecay(1e-4),
        H.Lasso(1e-4),
        H.GradientClipping(1),
        H.GradientHardClipping(-1, 1),
        H.GradientNoise(0.1),
        H.GradientLARS(),
    ]
    rows = []
    for hook in hooks:
        ways = {}
        for device in devices():
            optimizer = O.SGD(1e-6).setup(make_link(args, device))
            if hook is not None:
                optimizer.add_hook(hook)
            ways[device] = optimizer.update
        times = microseconds(ways, args)
        rows.append(
            [getattr(hook, 'name', 'none'), *(times.get(w, '-') for w in ('@numpy', 'native:0'))]
        )
    harness.print_table(['SGD with hook', 'NumPy', 'ChainerX'], rows)


if __name__ == '__main__':
    main()
