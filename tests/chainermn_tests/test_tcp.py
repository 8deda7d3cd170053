"""The transport TCP: messages between threads as ranks, and the tests of any number of ranks."""

import contextlib
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from helpers.programs import _environment

from chainermn._checkpoints import files, memory, writer
from chainermn._checkpoints.capture import Part
from chainermn._tcp import engine, names, rendezvous
from chainermn._tcp.collectives import bytes_of
from chainermn._tcp.comm import Comm, Status
from chainermn._tcp.engine import Engine, RankLostError, Request
from chainermn.means import shared_memory

# What depends on the transport most.
SELECTED = (
    'test_communicators or test_split or (test_means_of_gradients and numpy) or test_chain or '
    '(test_equals_one_rank and Adam and numpy) or (test_scatter_dataset and 5) or '
    'test_checkpointer_resumes or copies or (test_equals_data_parallel and numpy) or test_snapshot or '
    '(test_int8_means and not test_digits)'
)


@contextlib.contextmanager
def ranks(n):
    """Communicators of as many ranks, which are in this process."""
    connections = [{} for _ in range(n)]
    for i in range(n):
        for k in range(i):
            connections[i][k], connections[k][i] = socket.socketpair()
            connections[i][k].setblocking(False)
            connections[k][i].setblocking(False)
    comms = [Comm(Engine(i, own), range(n), 'world') for i, own in enumerate(connections)]
    try:
        yield comms
    finally:
        for comm in comms:
            comm.engine.close()


def on_all(comms, call):
    """Makes a call on all ranks at once; returns their results."""
    with ThreadPoolExecutor(len(comms)) as pool:
        return [*pool.map(call, comms, timeout=60)]


@pytest.mark.parametrize('size', [0, 1, 1000, 3 << 22])
@pytest.mark.parametrize('is_expected', [True, False])
def test_messages(size, is_expected):
    with ranks(2) as (a, b):
        sent = numpy.random.RandomState(0).bytes(size)
        received = bytearray(size)

        def call(comm):
            if comm is a:
                comm.Send(sent, 1, 3)
                comm.Send(b'end', 1, 4)
            else:
                end = bytearray(3)
                if not is_expected:  # the first message is there when the second one has come
                    comm.Recv(end, 0, 4)
                comm.Recv(received, 0, 3)
                if is_expected:
                    comm.Recv(end)
                assert end == b'end'

        on_all([a, b], call)
        assert received == sent


def test_order_and_wildcards():
    with ranks(3) as (a, b, c):
        for i in range(3):
            a.Isend(numpy.array([i]), 1, 5)
            c.Isend(numpy.array([10 + i]), 1, 6)
        b.Isend(numpy.array([100]), 1, 7)  # to itself
        found, status, x = [], Status(), numpy.zeros(1, numpy.int64)
        while len(found) < 7:
            for comm in a, c:
                comm.engine.advance()
            b.Mprobe(-1, -1, status).Recv(x)
            found.append((status.Get_source(), status.Get_tag(), int(x[0]), status.Get_count()))
        assert [f for f in found if f[0] == 0] == [(0, 5, i, 8) for i in range(3)]
        assert [f for f in found if f[0] == 2] == [(2, 6, 10 + i, 8) for i in range(3)]
        assert (1, 7, 100, 8) in found
        assert not b.Iprobe()


def test_communicators_do_not_meet():
    with ranks(2) as (a, b):
        copies = a.Dup(), b.Dup()
        assert Comm.Compare(*copies) == 0 and Comm.Compare(a, copies[0]) == names.CONGRUENT
        copies[0].Isend(numpy.array([1.0]), 1)
        a.Isend(numpy.array([2.0]), 1)
        x, y = numpy.zeros(1), numpy.zeros(1)
        requests = [b.Irecv(x, 0), copies[1].Irecv(y, 0)]
        Request.Waitall(requests)
        assert (x[0], y[0]) == (2, 1) and Request.Testall(requests)


def test_messages_that_do_not_fit():
    with ranks(2) as (a, b):
        a.Isend(bytes(8), 1)
        with pytest.raises(ValueError, match=r'8 bytes from rank 0, tag 0, does not fit into 4'):
            b.Recv(bytearray(4), 0)
    with pytest.raises(ValueError, match='contiguous'):
        bytes_of(numpy.zeros((2, 2))[:, 0])
    with ranks(1) as (a,), pytest.raises(TypeError, match='NumPy arrays, not list'):
        a.Allreduce(None, [1])


def test_lost_ranks():
    """What has come can be read; whoever waits for more learns of the loss."""
    with ranks(3) as (a, b, c):
        a.Send(numpy.ones(2), 1)
        a.engine.close()
        x = numpy.zeros(2)
        b.Recv(x, 0)
        assert (x == 1).all()
        for wait in (
            lambda: b.Recv(x, 0),
            lambda: b.Recv(x, 2),
            lambda: c.Barrier(),
            lambda: [b.Iprobe(0) for _ in range(1000)],
            lambda: a.Send(x, 1) or a.Recv(x, 1),
        ):
            with pytest.raises(RankLostError, match=r'rank \d is lost'):
                wait()
        on_all([b, c], lambda comm: comm.engine.leave())  # they wait for each other only


def test_ranks_that_have_ended():
    """What they have sent can be read; whoever waits for more learns that they have ended."""
    with ranks(3) as (a, b, c):
        x = numpy.zeros(2)
        b.Isend(numpy.ones(2), 0, 1)
        requests = [a.Irecv(numpy.zeros(2), 1, 5), a.Irecv(numpy.zeros(2), -1, 5)]
        leaving = [threading.Thread(target=b.engine.leave)]
        leaving[0].start()
        while not a.engine._peers[1].has_left:
            a.engine.advance()
        assert a.Iprobe(1, 1) and a.Iprobe()
        a.Recv(x, 1, 1)
        assert (x == 1).all()
        for wait in (
            lambda: a.Recv(x, 1),
            lambda: a.recv(1),
            lambda: a.Iprobe(1),
            lambda: a.Barrier(),
            requests[0].Wait,
            requests[0].Test,
        ):
            with pytest.raises(RankLostError, match='rank 1 has ended, and this one waits'):
                wait()
        assert not a.Iprobe() and not a.Iprobe(2)
        c.Send(x, 0, 5)  # rank 2 has not ended
        requests[1].Wait()
        leaving.append(threading.Thread(target=c.engine.leave))
        leaving[1].start()
        with pytest.raises(RankLostError, match='all other ranks have ended'):
            a.Recv(x)
        assert not a.Iprobe()
        a.Isend(numpy.ones(1), 1)  # it may still send
        a.engine.leave()
        for thread in leaving:
            thread.join(20)
            assert not thread.is_alive()


@pytest.mark.parametrize('n', [1, 2, 3, 5])
def test_collectives(n):
    arrays = numpy.random.RandomState(0).randn(n, 3, 5)

    def call(comm):
        rank = comm.rank
        for root in range(n):
            x = numpy.full(3, rank, 'float32')
            comm.Bcast(x, root)
            assert (x == root).all()
            assert comm.bcast({'rank': rank}, root) == {'rank': root}
        for dtype in 'float32', 'float64', 'int64':
            for shape in (3, 5), (0,), ():
                mine = [numpy.resize(a, shape).astype(dtype) for a in arrays]
                total = mine[rank].copy()
                comm.Allreduce(None, total)
                expected = mine[0].copy()
                for other in mine[1:]:
                    expected += other  # in the order of the ranks, so that the bits are the same
                numpy.testing.assert_array_equal(total, expected)
        flag = numpy.array(rank == n - 1)
        comm.Allreduce(None, flag, names.LOR)
        assert flag
        rows = numpy.zeros((n, 2))
        request = comm.Iallgather(numpy.array([rank, 1.0]), rows)
        request.Wait()
        numpy.testing.assert_array_equal(rows, [[i, 1] for i in range(n)])
        received = bytearray(2 * n)
        comm.Alltoall(b''.join([bytes([rank, i]) for i in range(n)]), received)
        assert received == b''.join([bytes([i, rank]) for i in range(n)])
        part = comm.Split(rank % 2, -rank)
        members = [i for i in reversed(range(n)) if i % 2 == rank % 2]
        assert part.Get_size() == len(members) and members[part.Get_rank()] == rank
        x = numpy.array([rank])
        part.Allreduce(None, x)
        assert x[0] == sum(members)
        group = part.Get_group()
        assert names.Group.Translate_ranks(group, range(part.size), comm.Get_group()) == members
        comm.Barrier()

    with ranks(n) as comms:
        on_all(comms, call)


def test_threads_share_connections():
    """Two threads of each rank wait at the same time, for messages of either."""
    with ranks(2) as comms:
        copies = {comm: comm.Dup() for comm in comms}

        def call(comm):
            def play(comm):
                x = numpy.zeros(1000)
                for i in range(50):
                    if (comm.rank + i) % 2:
                        comm.Send(x + i, 1 - comm.rank)
                    else:
                        comm.Recv(x, 1 - comm.rank)
                        assert (x == x[0]).all()

            other = threading.Thread(target=play, args=[copies[comm]])
            other.start()
            play(comm)
            other.join(60)
            assert not other.is_alive()

        on_all(comms, call)


def meet(number, settings, monkeypatch_values):
    """A process that takes part in a meeting."""
    code = (
        'from chainermn._tcp import rendezvous; '
        'n, c, _ = rendezvous.connect(20); print(n, sorted(c))'
    )
    return subprocess.Popen(
        [sys.executable, '-c', code],
        env={**_environment(settings), 'CHAINERMN_RANK': str(number), **monkeypatch_values},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_rendezvous():
    """Strangers, and ranks that nobody expects, do not disturb; numbers may have gaps."""
    with selectors.DefaultSelector() as selector:
        meeting = rendezvous.Rendezvous([0, 1, 2, 5], ['127.0.0.1'])
        with contextlib.closing(meeting):
            meeting.register(selector)
            settings = meeting.variable()
            values = json.loads(settings[rendezvous.VARIABLE])
            place = '127.0.0.1', values['port']
            hostile = [socket.create_connection(place) for _ in range(5)]
            hostile[0].sendall(b'GET / HTTP/1.0\r\n\r\n')
            hostile[1].sendall(json.dumps({'token': 'x' * 32, 'rank': 0, 'port': 1}).encode())
            hello = {'token': values['token'], 'rank': 7, 'port': 1}
            hostile[2].sendall(json.dumps(hello).encode())
            hostile[3].sendall(b'[' * 4000)
            hostile[4].close()
            processes = [meet(i, settings, {}) for i in (0, 2, 5)]
            meeting.forget(1)
            outputs = serve(selector, processes)
            assert outputs == ['0 [2, 5]\n', '2 [0, 5]\n', '5 [0, 2]\n']
            for connection in hostile:
                connection.close()


def serve(selector, processes):
    """Answers ranks until they have ended; returns what they have printed."""
    while any([process.poll() is None for process in processes]):
        for key, _ in selector.select(0.1):
            key.data(key.fileobj)
    return [process.communicate()[0] for process in processes]


@pytest.mark.parametrize('is_replaced', [False, True])
def test_loss_while_ranks_connect(is_replaced):
    """A rank is lost that the others know of and have not yet reached: they meet again."""
    with selectors.DefaultSelector() as selector, socket.create_server(('127.0.0.1', 0)) as deaf:
        meeting = rendezvous.Rendezvous([0, 1, 2], ['127.0.0.1'])
        with contextlib.closing(meeting):
            meeting.register(selector)
            settings = meeting.variable()
            values = json.loads(settings[rendezvous.VARIABLE])
            processes = [meet(i, settings, {}) for i in (0, 1)]
            with socket.create_connection(('127.0.0.1', values['port'])) as lost:
                hello = {'token': values['token'], 'rank': 2, 'port': deaf.getsockname()[1]}
                lost.sendall(json.dumps(hello).encode())
                while not meeting._answered:
                    for key, _ in selector.select(0.1):
                        key.data(key.fileobj)
                assert b'[2, "127.0.0.1"' in lost.recv(4096)
            time.sleep(0.2)  # they wait for rank 2, which would come to them
            assert [process.poll() for process in processes] == [None, None]
            meeting.lose(2, is_replaced)
            if is_replaced:
                processes.append(meet(2, settings, {}))
                assert serve(selector, processes) == ['0 [1, 2]\n', '1 [0, 2]\n', '2 [0, 1]\n']
            else:
                assert serve(selector, processes) == ['0 [1]\n', '1 [0]\n']


@pytest.mark.parametrize('has_ended', [False, True])
def test_ranks_that_join(has_ended):
    """The others are told when one has come; if they have ended, it ends, too."""
    with selectors.DefaultSelector() as selector:
        meeting = rendezvous.Rendezvous([0], ['127.0.0.1'])
        with contextlib.closing(meeting):
            meeting.register(selector)
            settings = meeting.variable()
            values = json.loads(settings[rendezvous.VARIABLE])
            with socket.create_connection(('127.0.0.1', values['port'])) as first:
                hello = {'token': values['token'], 'rank': 0, 'port': 1}
                first.sendall(json.dumps(hello).encode())
                while not meeting._answered:
                    for key, _ in selector.select(0.1):
                        key.data(key.fileobj)
                assert first.recv(4096) == b'[[0, "127.0.0.1", 1]]\n'
                meeting.invite(1)
                new = meet(1, settings, {})
                while not meeting._connections:
                    for key, _ in selector.select(0.1):
                        key.data(key.fileobj)
                assert first.recv(4096) == b'rank 1 joins'
            assert meeting.expected == {0, 1} and meeting.invited == {1}
            if has_ended:
                meeting.forget(0)
                assert not meeting.expected | meeting.invited
                assert serve(selector, [new]) == [''] and new.returncode == 0
            else:
                outputs = serve(selector, [meet(0, settings, {}), new])
                assert outputs == ['0 [1]\n', '1 [0]\n'] and not meeting.invited


def test_news_of_the_launcher():
    """Who waits for anybody learns from the launcher that a rank is lost, or that it has ended."""
    for data, text in (b'rank 2 is lost', 'rank 2 is lost'), (b'', 'the launcher has ended'):
        own, launcher = socket.socketpair()
        own.setblocking(False)
        a, b = socket.socketpair()
        a.setblocking(False)
        comm = Comm(Engine(0, {1: a}, own), [0, 1], 'world')
        with b, launcher:
            assert not comm.Iprobe()
            launcher.sendall(data)
            launcher.close()
            with pytest.raises(RankLostError, match=text):
                comm.Recv(bytearray(1), 1)
            comm.engine.close()
            with pytest.raises(RankLostError):
                comm.Iprobe()


@pytest.mark.parametrize('tells', [True, False])
def test_rank_that_leaves_since_another_one_is_lost(monkeypatch, tells):
    """The launcher knows which rank was lost first. If it tells nothing, nobody waits for long."""
    monkeypatch.setattr(engine, '_NEWS_SECONDS', 50 if tells else 0.1)
    own, launcher = socket.socketpair()
    own.setblocking(False)
    a, b = socket.socketpair()
    a.setblocking(False)
    comm = Comm(Engine(0, {1: a}, own), [0, 1], 'world')
    b.close()
    news = threading.Timer(0.2, launcher.sendall, [b'rank 2 is lost'])
    with launcher:
        if tells:
            news.start()
        for _ in range(2):
            with pytest.raises(RankLostError, match='^rank 2 is lost$' if tells else '^rank 1 is'):
                comm.Recv(bytearray(1), 1)
        if tells:
            news.join()
    comm.engine.close()


def test_loss_while_a_checkpoint_is_written(tmp_path, monkeypatch):
    """The error is that of any other call, so that the program starts again."""
    monkeypatch.setattr(writer, 'mpi', lambda: names)
    with ranks(2) as (a, b):
        comm = SimpleNamespace(rank=0, size=2, background_comm=a)
        one = writer.FileWriter(comm, 1, 1)
        one.start(os.fspath(tmp_path), files.Checkpoint('run', 1, 2), Part({}, [], {}))
        b.engine.close()
        with pytest.raises(RankLostError, match=r'run.1.of.2.json was not written: rank 1 is lost'):
            one.wait()


@pytest.mark.parametrize('is_lost', [True, False], ids=['lost', 'fails'])
def test_copies_that_are_not_made(monkeypatch, is_lost):
    """The state before stays as it was, with both parts."""
    monkeypatch.setattr(writer, 'mpi', lambda: names)
    monkeypatch.setattr(memory, 'mpi', lambda: names)
    kept = memory.Memory(), memory.Memory()
    states = [memory.State(files.Checkpoint('run', i, 2), 'token') for i in range(2)]
    parts = [Part({'x': numpy.full(1000, i, 'f')}, [], {}) for i in range(2)]
    with ranks(2) as comms:
        writers = [
            memory.MemoryWriter(SimpleNamespace(rank=i, size=2, background_comm=comm))
            for i, comm in enumerate(comms)
        ]
        for i in range(2):
            writers[i].start(kept[i], states[0], parts[i])
        for one in writers:
            one.wait()
        writers[0].start(kept[0], states[1], parts[0])
        if is_lost:
            comms[1].engine.close()
        else:
            writers[1].start(kept[1], states[1], None)
        reason = 'rank 1 is lost' if is_lost else 'rank 1: AttributeError'
        message = f'the copy of run.1.of.2.json in memory was not made: {reason}'
        with pytest.raises(RankLostError if is_lost else RuntimeError, match=message):
            writers[0].wait()
    alone = SimpleNamespace(
        rank=0, size=1, allgather_obj=lambda x: [x], bcast_obj=lambda x, root: x
    )
    assert kept[0].find(alone) == states[:1]
    contents = map(files.parse_part, kept[0].read(alone, states[0]))
    assert [part.values['x'].tolist() for part in contents] == [[0] * 1000, [1] * 1000]


@pytest.mark.skipif(not os.path.isdir('/dev/shm'), reason='there is no shared memory')
def test_loss_while_memory_is_shared():
    with ranks(2) as (a, b):
        b.engine.close()
        before = {*os.listdir('/dev/shm')}
        with pytest.raises(RankLostError):
            shared_memory.make_rows(a, [(5, numpy.dtype('f'))])
        new = {*os.listdir('/dev/shm')} - before
        assert not [name for name in new if name.startswith('chainermn-')]


def run(tmp_path, n, program, *arguments, options=()):
    script = tmp_path / 'script.py'
    script.write_text(program)
    command = [sys.executable, '-m', 'chainermn.run', '-n', str(n), '--transport', 'tcp', *options]
    process = subprocess.run(
        [*command, str(script), *arguments],
        env=_environment({'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}),
        capture_output=True,
        text=True,
        timeout=200,
    )
    return process.returncode, process.stdout + process.stderr


@pytest.mark.slow
@pytest.mark.timeout(220)
def test_ranks(tmp_path):
    folder = Path(__file__).with_name('any_ranks')
    program = 'import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))'
    options = '-q', '-x', '-p', 'no:cacheprovider', '-p', 'no:randomly', '-k', SELECTED
    status, output = run(tmp_path, 4, program, *options, os.fspath(folder))
    assert status == 0, output
    assert output.count(' passed') == 4


def test_without_mpi(tmp_path):
    """A job that starts, sends and fails without mpi4py, and names the rank."""
    program = (
        'import sys; sys.modules["mpi4py"] = None\n'
        'import chainermn\n'
        'comm = chainermn.create_communicator("naive")\n'
        'print("sum", comm.allreduce_obj(comm.rank), "host", comm.intra_size)\n'
        'if comm.rank == 1: sys.exit(3)\n'
        'comm.recv_obj(1)\n'
    )
    status, output = run(tmp_path, 3, program)
    assert status == 3
    assert all(f'[{i}] sum 3 host 3' in output for i in range(3))
    assert 'rank 1 on' in output and 'ended with exit status 3' in output
    assert 'rank 1 is lost' in output


LATE = """
import os, sys, time
import chainermn
comm = chainermn.create_communicator('naive')
comm.allreduce_obj(0)
if comm.rank == int(sys.argv[1]):
    os.kill(os.getpid(), 9)
time.sleep(0.6 * comm.rank)
comm.allreduce_obj(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize('victim', range(4))
def test_killed_rank_is_named(tmp_path, victim):
    """Also by those that learn of it when others have left because of it."""
    status, output = run(tmp_path, 4, LATE, str(victim))
    assert status == 137
    assert re.search(f'rank {victim} on .* was killed by signal 9', output)
    named = re.findall(r'RankLostError: rank (\d)', output)
    assert named == [str(victim)] * 3, output


@pytest.mark.parametrize('end', ['sys.exit(3)', 'raise ValueError'])
def test_ends_before_connecting(tmp_path, end):
    """A rank that fails before it knows the others waits for none of them."""
    program = (
        f'import os, sys, time\nif os.environ["CHAINERMN_RANK"] == "1": {end}\ntime.sleep(100)\n'
    )
    status, output = run(tmp_path, 2, program, options=['--grace', '0.1'])
    assert status == (3 if '3' in end else 1)
    assert f'ended with exit status {status}' in output
    assert ('rank 1 failed' in output) == ('raise' in end)


@pytest.mark.parametrize(('seconds', 'limit'), [(None, ''), (2.5, ' in 2.5 seconds')])
def test_rank_that_cannot_be_reached(monkeypatch, seconds, limit):
    def meet(*args):
        raise TimeoutError

    monkeypatch.setenv('CHAINERMN_RANK', '3')
    monkeypatch.setattr(rendezvous, '_meet', meet)
    with pytest.raises(TimeoutError, match=f'rank 3 did not reach all ranks{limit}$'):
        rendezvous.connect(seconds)
