"""The training steps that ``distributed.py`` compares, in one process and on several ranks."""

import contextlib
import functools
import time
import warnings
from typing import Any, NamedTuple

import harness
import numpy

DEVICES = {'numpy': '@numpy', 'chainerx': 'native:0'}
# Of Adam: with its usual rate, small differences of resnet18's gradients grow fast.
ADAM_LR = 1e-4
# Relative difference of losses, by the dtype of gradients
TOLERANCES = {'float32': 1e-3, 'bfloat16': 3e-2, 'float16': 3e-2, 'int8': 3e-2}


class Way(NamedTuple):
    """How ranks train together."""

    engine: str
    dtype: str
    overlap: str
    state: str

    @property
    def shards_gradients(self):
        return self.state in ('gradients', 'parameters')

    @property
    def exists(self):
        """Whether the engine trains in this way: gloo has neither bfloat16 nor int8."""
        if self.engine != 'torch':
            return True
        return self.dtype in (('float32',) if self.shards_gradients else ('float32', 'float16'))

    def title(self, counts):
        """Name in tables, which says what differs between the ways."""
        torch_name = 'FSDP2' if self.shards_gradients else 'DDP'
        name = torch_name if self.engine == 'torch' else harness.ENGINES[self.engine][0]
        details = [value for value, n in zip(self[1:], counts) if n > 1]
        return ', '.join([name, *details])


class Step:
    """One step of training, which a call does.

    Args:
        run: Does a step and returns its loss.
        states: Returns the arrays of the optimizer's state.
        mean: Averages the gradients of the last step over the ranks. ``None`` if no rank has all of
            them.

    """

    def __init__(self, run, states, mean=None):
        self.run = run
        self.states = states
        self.mean = mean

    def state_bytes(self):
        return sum(array.nbytes for array in self.states())


def _chainer_step(workload, engine, args, comm=None, way=None):
    import chainer.functions as F
    import chainermn
    from chainer import optimizers

    model, x, t = workload.chainer_parts(DEVICES[engine])
    optimizer: Any = optimizers.Adam(ADAM_LR) if args.adam else optimizers.SGD(workload.lr)
    if comm is not None:
        overlaps = way.overlap == 'overlap'
        optimizer = chainermn.create_multi_node_optimizer(
            optimizer,
            comm,
            sharded={'whole': False, 'sharded': True}.get(way.state, way.state),
            bucket_bytes=round(args.bucket_mib * 2**20) if overlaps else None,
        )
        t = model.device.send(_other_labels(workload, comm.rank))
    optimizer.setup(model)
    last: list[Any] = []

    def loss(x, t):
        value = F.softmax_cross_entropy(model(x), t)
        last[:] = [value.array]
        return value

    def run():
        optimizer.update(loss, x, t)
        return last[0]

    if comm is not None and way.state != 'parameters':
        run()  # only gives all ranks the same parameters, which setup does where they are sharded
    # The shard of a parameter has its rule.
    rules = [param.update_rule for param in model.params()]
    # A rule that updates nothing on this rank has no state.
    return Step(
        run,
        lambda: [a for r in rules for a in (r.state or {}).values() if a.ndim],
        None
        if comm is None or way.shards_gradients
        else functools.partial(comm.multi_node_mean_grad, model),
    )


def _torch_step(workload, args, rank=None, way=None):
    import torch
    import torch.nn.functional as F
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    model, x, t = workload.torch_parts()
    kind, lr = (torch.optim.Adam, ADAM_LR) if args.adam else (torch.optim.SGD, workload.lr)
    if way is not None:
        t = torch.from_numpy(_other_labels(workload, rank)).long()
    if way is not None and way.shards_gradients:
        from torch.distributed.fsdp import fully_shard

        for module in [*_blocks(model), model]:
            fully_shard(module, reshard_after_forward=way.state == 'parameters')
    elif way is not None:
        overlaps = way.overlap == 'overlap'
        buckets: dict[str, Any] = {} if overlaps else {'bucket_cap_mb': 10**5}
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', FutureWarning)  # of a later name of the argument
            # Each rank keeps its statistics of batch normalization, as in ChainerMN.
            model = DistributedDataParallel(model, broadcast_buffers=False, **buckets)
        if way.dtype == 'float16':
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    optimizer: Any
    if way is not None and way.state == 'sharded':
        optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=kind, lr=lr)
        holder = optimizer.optim
    else:
        optimizer = holder = kind(model.parameters(), lr=lr)

    def run():
        loss = F.cross_entropy(model(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def states():
        arrays = [a for s in holder.state.values() for a in s.values() if a.ndim]
        return [a.to_local() if hasattr(a, 'to_local') else a for a in arrays]

    def mean():  # what DDP does, with all in one bucket
        grads = [param.grad.reshape(-1) for param in model.parameters()]
        flat = torch.cat(grads).to(getattr(torch, way.dtype)) / args.ranks
        torch.distributed.all_reduce(flat)
        for grad, part in zip(grads, flat.split([grad.numel() for grad in grads])):
            grad.copy_(part)

    return Step(run, states, None if way is not None and way.shards_gradients else mean)


def _blocks(module):
    """The largest modules that stand in a list: FSDP2 gathers the parameters of each at once."""
    from torch import nn

    for child in module.children():
        if isinstance(module, (nn.ModuleList, nn.Sequential)):
            if next(child.parameters(), None) is not None:
                yield child
        else:
            yield from _blocks(child)


def _other_labels(workload, rank):
    """Labels that differ between the ranks, so that wrong means of gradients show."""
    return numpy.roll(workload.data()[1], rank)


class Ranks:
    """Measures on all ranks in turn; each rank makes one and calls the same methods.

    Args:
        args: Options of the command line.

    """

    def __init__(self, args):
        import chainermn

        self._args = args
        self.comm: Any = chainermn.create_communicator(args.communicator)
        self._comms = {'float32': self.comm}
        self.world: Any = self.comm.mpi_comm.Dup()

    def start_torch(self):
        """Connects the ranks by gloo, over TCP as it does between hosts."""
        import datetime
        import socket

        from torch import distributed

        address = None
        if self.comm.rank == 0:
            host = 'left' if self._args.rate else 'localhost'
            with socket.socket() as s:
                s.bind((socket.gethostbyname(host), 0))
                address = '{}:{}'.format(*s.getsockname())
        distributed.init_process_group(
            'gloo',
            init_method=f'tcp://{self.world.bcast(address)}',
            rank=self.comm.rank,
            world_size=self.comm.size,
            timeout=datetime.timedelta(seconds=100),
        )

    def _comm_of(self, dtype):
        if dtype not in self._comms:
            import chainermn

            self._comms[dtype] = chainermn.create_communicator(
                self._args.communicator, self.comm.mpi_comm, allreduce_grad_dtype=dtype
            )
        return self._comms[dtype]

    def alone(self, workload, engine):
        """Makes the step of one process."""
        if engine == 'torch':
            return _torch_step(workload, self._args)
        return _chainer_step(workload, engine, self._args)

    def together(self, workload, way):
        """Makes the step of all ranks."""
        if way.engine == 'torch':
            return _torch_step(workload, self._args, self.comm.rank, way)
        comm = self._comm_of(way.dtype)
        return _chainer_step(workload, way.engine, self._args, comm, way)

    def check(self, workload, steps):
        """Runs a few steps as a warm-up, and compares the losses between the ways."""
        losses = {}
        for way, step in steps.items():
            losses[way] = [float(step.run()) for _ in range(3)]
        reference_way, reference = next(iter(losses.items()))
        for way, values in losses.items():
            tolerance = TOLERANCES[way.dtype] + TOLERANCES[reference_way.dtype]
            if not numpy.allclose(values, reference, tolerance, 0):
                raise RuntimeError(
                    f'{workload.name}: the losses differ, {reference_way} has {reference}, '
                    f'{way} has {values}'
                )

    def timer(self, call, n=None):
        """Returns what times ``call`` on the first ``n`` ranks at once, or all of them."""
        return _Timer(self, call, self.comm.size if n is None else n)

    def wait_quietly(self):
        """Waits for all ranks, and leaves the cores to those that still work."""
        request = self.world.Ibarrier()
        while not request.Test():
            time.sleep(0.001)


class _Timer:
    """Timer like :class:`timeit.Timer`, with the same result on all ranks."""

    def __init__(self, ranks, call, n):
        self._ranks = ranks
        self._call = call
        self._n = n

    def timeit(self, number):
        world = self._ranks.world
        self._ranks.wait_quietly()
        seconds = 0.0
        if world.rank < self._n:
            if self._n > 1:
                world.Barrier()
            start = time.perf_counter()
            for _ in range(number):
                self._call()
            seconds = time.perf_counter() - start
        self._ranks.wait_quietly()
        return world.allreduce(seconds) / self._n


@contextlib.contextmanager
def torch_started(ranks, is_wanted):
    """Context in which PyTorch connects the ranks."""
    if is_wanted:
        ranks.start_torch()
    yield
    if is_wanted:
        from torch import distributed

        distributed.destroy_process_group()
