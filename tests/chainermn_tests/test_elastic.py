"""Jobs over TCP that lose ranks and go on."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from helpers.programs import _environment

import chainermn
from chainermn import _hosts, _losses

TOOL = Path(__file__).resolve().parents[2] / 'tools' / 'two_hosts.py'
ON_HOST = shlex.join([sys.executable, str(TOOL)])
LAUNCHER = sys.executable, '-m', 'chainermn.run'
PROGRAM = """
    import os, sys
    import numpy
    import chainer, chainermn
    import chainer.links as L
    from chainer import iterators, training

    folder, at, victims, number, n, wait, saves, copies = sys.argv[1:]
    victims, own = victims.split(','), os.environ['CHAINERMN_RANK']
    flag = os.path.join(folder, 'flag')
    losses = {}

    def train(comm):
        pids = dict(comm.allgather_obj((own, os.getpid())))

        def fail(trainer):
            me = own == victims[-1] and not os.path.exists(flag)
            if trainer.updater.iteration == int(at) and me:
                open(flag, 'w').close()
                for victim in victims:
                    os.kill(pids[victim], int(number))

        numpy.random.seed(comm.rank)
        model = L.Classifier(L.Linear(64, 10))
        optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
        optimizer.setup(model)
        digits = chainer.datasets.get_digits()[0][:120]
        part = chainermn.scatter_dataset(digits, comm, shuffle=True, seed=1)
        iterator = iterators.SerialIterator(part, 5)
        updater = training.StandardUpdater(iterator, optimizer)
        trainer = training.Trainer(updater, (int(n), 'iteration'), out=folder)
        checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
        trainer.extend(checkpointer, trigger=(int(saves), 'iteration'))
        if int(copies):
            trainer.extend(checkpointer.in_memory, trigger=(int(copies), 'iteration'))

        def note(trainer):
            loss = comm.allreduce_obj(float(trainer.observation['main/loss']))
            losses[trainer.updater.iteration] = loss / comm.size

        trainer.extend(note, trigger=(1, 'iteration'), priority=500)

        def wait_for_others(trainer):
            while trainer.updater.iteration == int(wait) and comm.size == 1:
                comm.mpi_comm.Iprobe()

        trainer.extend(wait_for_others, trigger=(1, 'iteration'))
        trainer.extend(fail, trigger=(1, 'iteration'), priority=400)
        checkpointer.maybe_load(trainer)
        print('starts', trainer.updater.iteration, 'of', comm.size, flush=True)
        trainer.run(show_loop_exception_msg=False)
        if comm.rank == 0:
            print('losses', __import__('json').dumps(losses), flush=True)

    chainer.get_device('@numpy').use()
    chainermn.run_elastic(train)
"""


def run(
    n,
    folder,
    *,
    policy='end',
    restarts=0,
    rejoin=None,
    at=0,
    victim=9,
    number=9,
    stop=12,
    wait=0,
    saves=2,
    copies=0,
    status=0,
    prefix=(),
    hosts=(),
    **variables,
):
    """Runs the program; returns what it printed, and the losses."""
    folder.mkdir(exist_ok=True)
    script = folder / 'train.py'
    script.write_text(textwrap.dedent(PROGRAM))
    options = '--transport', 'tcp', '--on-loss', policy, '--restarts', str(restarts)
    options = *options, '--record', str(folder), *hosts
    if rejoin is not None:
        options += '--rejoin-after', str(rejoin)
    arguments = [str(v) for v in (folder, at, victim, number, stop, wait, saves, copies)]
    process = subprocess.run(
        [*prefix, *LAUNCHER, '-n', str(n), *options, str(script), *arguments],
        env=_environment({'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', **variables}),
        capture_output=True,
        text=True,
        timeout=100,
    )
    output = process.stdout + process.stderr
    assert process.returncode == status, output
    losses = re.search(r'losses (.*)', output)
    return output, losses and {int(k): v for k, v in json.loads(losses[1]).items()}


def restart_of(output, n):
    """The iteration from which all of some ranks have gone on."""
    starts = {int(i) for i in re.findall(rf'starts (\d+) of {n}', output)} - {0}
    # The checkpoint before the last one, if that was not complete yet.
    assert len(starts) == 1 and starts <= {4, 6}, output
    return starts.pop()


@pytest.mark.slow
@pytest.mark.parametrize('number, seconds', [(9, '60'), (19, '3')], ids=['killed', 'stopped'])
def test_shrink(tmp_path, number, seconds):
    """The others go on from the checkpoint as a job of as many ranks does."""
    options = {'policy': 'shrink', 'at': 7, 'victim': 1, 'number': number}
    output, losses = run(3, tmp_path / 'one', **options, CHAINERMN_TIMEOUT=seconds)
    assert re.search(r'rank 1 on .* (was killed by signal 9|is lost).*; 2 ranks go on', output)
    start = restart_of(output, 2)
    run(3, tmp_path / 'two', stop=start)
    _, expected = run(2, tmp_path / 'two')
    assert {i: losses[i] for i in expected} == expected
    assert [*expected] == [*range(start + 1, 13)]


@pytest.mark.slow
def test_replace(tmp_path):
    """With another process in the place of one that is lost, the losses are those of a whole run."""
    output, losses = run(2, tmp_path / 'one', policy='replace', restarts=1, at=7, victim=0)
    assert 'replacement 1 of 1 takes its place' in output
    start = restart_of(output, 2)
    _, expected = run(2, tmp_path / 'two')
    # Rank 0 is the one that is new: it has the losses since then.
    assert losses == {i: expected[i] for i in range(start + 1, 13)}


@pytest.mark.slow
def test_rejoin(tmp_path):
    """A process joins the one that is left; the losses are those of one rank, and of two then."""
    options = {'policy': 'shrink', 'rejoin': 0, 'restarts': 1, 'at': 7, 'victim': 1}
    output, losses = run(2, tmp_path / 'one', wait=9, **options)
    assert '1 ranks go on, new process 1 of 1 joins in 0 s' in output
    alone, together = (
        restart_of(output, 1),
        [int(i) for i in re.findall(r'starts (\d+) of 2', output)],
    )
    assert together[:2] == [0, 0] and together[2:] == [8, 8], output
    run(2, tmp_path / 'two', stop=alone)
    run(1, tmp_path / 'two', stop=8)
    _, expected = run(2, tmp_path / 'two')
    assert {i: losses[i] for i in expected} == expected
    assert [*expected] == [9, 10, 11, 12]


@pytest.mark.slow
@pytest.mark.parametrize('policy, n', [('shrink', 3), ('replace', 2)])
def test_memory(tmp_path, policy, n):
    """Without checkpoints on disk, the others go on from what is in their memory."""
    options = {'policy': policy, 'restarts': 1, 'at': 7, 'victim': 1, 'saves': 100, 'copies': 2}
    output, losses = run(n, tmp_path / 'one', **options)
    start = restart_of(output, 2)
    assert not [*(tmp_path / 'one').glob('run.*')]
    run(n, tmp_path / 'two', stop=start)
    _, expected = run(2, tmp_path / 'two')
    assert {i: losses[i] for i in expected} == expected
    assert [*expected] == [*range(start + 1, 13)]


@pytest.mark.slow
def test_neighbours_lost(tmp_path):
    """Nobody has a copy of the part of the first one: the other goes on from disk."""
    options = {'policy': 'shrink', 'at': 7, 'victim': '2,1', 'saves': 4, 'copies': 2}
    output, losses = run(3, tmp_path / 'one', **options)
    assert len(re.findall('memory lacks the parts of ranks 1(-2)? of the state of', output)) == 1
    assert restart_of(output, 1) == 4
    run(3, tmp_path / 'two', stop=4)
    _, expected = run(1, tmp_path / 'two')
    assert {i: losses[i] for i in expected} == expected


@pytest.mark.slow
@pytest.mark.parametrize('policy', ['end', 'shrink'])
def test_jobs_that_end(tmp_path, policy):
    """Without another rank that may go on, the job ends, and names the rank."""
    n = 3 if policy == 'end' else 1
    output, losses = run(n, tmp_path, policy=policy, at=3, victim=0, status=137)
    assert re.search(r'rank 0 on .* was killed by signal 9', output)
    assert losses is None


SMALL = """
    import os, signal, sys
    import chainermn

    number, calls = int(os.environ['CHAINERMN_RANK']), []

    def program(comm):
        calls.append(comm.size)
        if len(calls) == 1:
            {}
        return comm.size

    print('sizes', chainermn.run_elastic(program, 'naive'), calls, flush=True)
"""


def run_small(folder, n, code, *more, policy='shrink', status=0, prefix=(), **variables):
    script = folder / 'small.py'
    script.write_text(textwrap.dedent(SMALL.format(code)))
    options = '--transport', 'tcp', '--on-loss', policy, '--record', str(folder), *more
    process = subprocess.run(
        [*prefix, *LAUNCHER, '-n', str(n), *options, str(script)],
        env=_environment({'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', **variables}),
        capture_output=True,
        text=True,
        timeout=100,
    )
    output = process.stdout + process.stderr
    assert process.returncode == status, output
    return output


def test_loss_after_others_have_ended_the_program(tmp_path):
    """All end the program, or all that are left start it again."""
    output = run_small(tmp_path, 3, 'number == 1 and os.kill(os.getpid(), 9)')
    assert output.count('sizes 2 [3, 2]') == 2


def test_stops_while_the_others_meet(tmp_path):
    """A rank that does not come to the meeting is lost, too."""
    code = 'number and os.kill(os.getpid(), 9 if number == 1 else signal.SIGSTOP)'
    output = run_small(tmp_path, 3, code, CHAINERMN_TIMEOUT='2')
    assert '2 ranks go on' in output and '1 ranks go on' in output
    assert output.count('sizes 1 [3, 1]') == 1


def test_several_losses(tmp_path):
    """Each rank that is left names the one that was killed, not another one that has left."""
    code = """pass
        __import__('time').sleep(0.2 * number)
        if number == 4 - len(calls) > 0:
            os.kill(os.getpid(), 9)
        comm.size > 1 and comm.allreduce_obj(0)"""
    output = run_small(tmp_path, 4, code)
    named = re.findall(r'\[(\d)\] chainermn: rank (\d) is lost; the program starts again', output)
    assert sorted(named) == [(str(i), str(k)) for i in range(3) for k in range(i + 1, 4)], output
    assert 'sizes 1 [4, 3, 2, 1]' in output


@pytest.mark.parametrize('policy', ['end', 'shrink'])
def test_copies_in_memory_are_kept_for_others(tmp_path, policy):
    code = 'print("kept", memory.memory_of("folder", "name") is not None, flush=True)'
    code = f'from chainermn._checkpoints import memory; {code}'
    output = run_small(tmp_path, 2, code, policy=policy)
    assert output.count(f'kept {policy == "shrink"}') == 2


def test_one_process():
    assert chainermn.run_elastic(lambda comm: comm.size, 'naive') == 1
    with pytest.raises(ValueError, match='Unrecognized communicator'):
        chainermn.run_elastic(len, 'none')


@pytest.mark.parametrize('seconds', [0, 100])
def test_new_processes(seconds):
    """They start after a loss, also after their own, as often as the plan says."""
    plan = _losses.Plan(3, 'shrink', 1, 2, seconds, _hosts.Hosts([], 3, 'ssh', []))
    losses = _losses.Losses(plan, ['127.0.0.1'])
    with contextlib.closing(losses.meeting):
        assert losses.next_starts() == []
        joins = f'2 ranks go on, new process {{}} of 2 joins in {seconds} s'
        assert losses.lose(1) == joins.format(1)
        assert losses.meeting.expected == {0, 2}
        if seconds:
            assert losses.next_starts() == []
            losses.end(0)
            assert losses._starts == {}
            return
        assert losses.next_starts() == [1] and losses.next_starts() == []
        assert losses.lose(1) == joins.format(2)
        assert losses.next_starts() == [1]
        assert losses.lose(1) == '2 ranks go on' and losses.next_starts() == []
        losses.meeting.invite(1)
        losses.end(0)
        assert losses.lose(1) == 'it was to join the others, which have ended'
        assert losses.lose(2) is None  # it is the last one


def test_options(capsys):
    from chainermn import run

    for options in ['--on-loss', 'shrink'], ['--on-loss', 'replace', '--transport', 'mpi']:
        with pytest.raises(SystemExit):
            run.main([*options, os.devnull])
        assert 'need --transport tcp' in capsys.readouterr().err
    common = '--transport', 'tcp', '--rejoin-after', '3'
    for options in ['--restarts', '1'], ['--on-loss', 'shrink']:
        with pytest.raises(SystemExit):
            run.main([*common, *options, os.devnull])
        assert 'needs --on-loss shrink and --restarts' in capsys.readouterr().err


# A shell on this host in the place of ssh, which has none of the variables.
SHELL = """sh -c 'exec env -i sh -c "$1"'"""
HALF = """sh -c '[ $0 = one ] && exec env -i sh -c "$1"; exit 255'"""


def hosts(ssh, names='one,two'):
    return '--hosts', names, '--ssh', str(ssh)


def check_two_hosts(tmp_path, **kwargs):
    """Kills a rank of each of two hosts; where ranks are decides how means are rounded."""
    options = {'policy': 'shrink', 'at': 7, 'victim': '1,2'}
    output, losses = run(4, tmp_path / 'one', **options, **kwargs)
    start = restart_of(output, 2)
    run(4, tmp_path / 'two', stop=start, **kwargs)
    _, expected = run(2, tmp_path / 'two', **kwargs)
    assert {i: losses[i] for i in expected} == expected
    assert [*expected] == [*range(start + 1, 13)]
    return output


@pytest.mark.slow
def test_shrink_by_ssh(tmp_path):
    check_two_hosts(tmp_path, hosts=hosts(SHELL))


@pytest.mark.slow
def test_shrink_on_two_hosts(tmp_path):
    """Only a network connects the namespaces, one of which is that of the launcher."""
    skip_without_two_hosts()
    output = check_two_hosts(
        tmp_path, prefix=(sys.executable, TOOL), hosts=hosts(ON_HOST, 'left,right')
    )
    assert 'rank 1 on left was killed' in output and 'rank 2 on right was killed' in output


def skip_without_two_hosts():
    result = subprocess.run([sys.executable, TOOL], capture_output=True, text=True)
    if result.returncode == 77:
        pytest.skip(result.stderr.strip())


@pytest.mark.slow
def test_cut_link(tmp_path):
    """The others go on without the ranks of a host, and end although ssh does not."""
    skip_without_two_hosts()
    code = 'number == 2 and os.system("ip link set eth0 down"); comm.allreduce_obj(1)'
    ssh = f"""sh -c '{ON_HOST} "$@"; sleep 1000' sh"""
    options = *hosts(ssh, 'left,right'), '--link-timeout', '2'
    output = run_small(tmp_path, 3, code, *options, prefix=(sys.executable, TOOL))
    assert 'rank 2 on right is lost' in output and '2 ranks go on' in output
    assert output.count('sizes 2 [3, 2]') == 2


@pytest.mark.slow
def test_replace_by_ssh(tmp_path):
    """New processes start where the lost ones were."""
    options = {'policy': 'replace', 'restarts': 2, 'at': 7, 'victim': '1,2'}
    output, losses = run(4, tmp_path / 'one', **options, hosts=hosts(SHELL))
    assert 'replacement 2 of 2 takes its place' in output
    _, expected = run(4, tmp_path / 'two')
    assert losses == expected


def test_host_that_starts_nothing(tmp_path):
    """The others go on; without ``--on-loss``, the job ends."""
    output = run_small(tmp_path, 2, 'pass', *hosts(HALF))
    assert 'rank 1 on two was not started (exit status 255); 1 ranks go on' in output
    assert output.count('sizes 1 [1]') == 1
    output = run_small(tmp_path, 2, 'pass', *hosts(HALF), policy='end', status=1)
    assert 'rank 1 on two was not started (exit status 255)' in output


def test_replacement_on_the_next_host(tmp_path):
    output = run_small(tmp_path, 2, 'pass', *hosts(HALF), '--restarts', '1', policy='replace')
    assert 'replacement 1 of 1 takes its place' in output
    assert output.count('sizes 2 [2]') == 2
