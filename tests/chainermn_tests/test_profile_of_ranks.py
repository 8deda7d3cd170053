"""A profile of several ranks is one file."""

import pytest
from helpers import mpi, trace_format

pytestmark = pytest.mark.skipif(
    bool(mpi.reason_to_skip()) or mpi.mpiexec() is None,
    reason=mpi.reason_to_skip() or 'needs mpiexec',
)

PROGRAM = """
    import time
    import numpy as np
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import chainermn

    class Dataset(chainer.dataset.DatasetMixin):
        def __len__(self):
            return 8
        def get_example(self, i):
            return np.full(3, i, 'f')

    comm = chainermn.create_communicator('naive')
    model = L.Linear(3, 2)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm)
    optimizer.setup(model)
    iterator = chainer.iterators.MultiprocessIterator(Dataset(), 4, n_processes=1)
    with chainer.profiler.profile({path!r}, communicator=comm) as prof:
        for _ in range(3):
            x = np.stack(iterator.next())
            optimizer.update(lambda: F.sum(model(x)))
        if comm.rank == 1:
            time.sleep(0.5)
        comm.allreduce_obj(0)
    iterator.finalize()
    assert abs(sum(row.own for row in prof.rows) / prof.wall - 1) < 0.05
    print(sorted({{row.name for row in prof.rows if row.category == 'communication'}}))
"""


def test_two_ranks(tmp_path):
    path = tmp_path / 'trace.json'
    printed = mpi.run_ranks(2, PROGRAM.format(path=str(path)))
    assert printed.count('wait for means of gradients') == 2
    events = trace_format.read(path)
    names = {e['args']['name']: e['pid'] for e in events if e['name'] == 'process_name'}
    assert names['rank 0'] == 0
    assert names['rank 1'] == 1
    workers = [pid for name, pid in names.items() if name.startswith('rank 1 worker ')]
    assert len(names) == 4 and len(workers) == 1 and workers[0] > 1
    assert {e['pid'] for e in events if e['name'] == 'read examples'} == {2, 3}
    # Rank 0 waits for rank 1, at the same time in the file.
    waits = {
        e['pid']: (e['ts'], e['ts'] + e['dur'])
        for e in events
        if e['name'] == 'NaiveCommunicator.allreduce_obj'
    }
    assert waits[0][1] - waits[0][0] > 0.45e6
    assert abs(waits[0][1] - waits[1][1]) < 0.2e6
