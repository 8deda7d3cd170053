"""No process outlives the training that started it, whatever ends the training."""

import os
import signal
from concurrent import futures

import pytest
from helpers.programs import start_python

import chainer.links as L
from chainer import serializers

PROGRAM = """
import multiprocessing, os, shutil, sys, time
import numpy
import chainer
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers


def save_slowly(path, target):
    serializers.save_npz(path, target)
    os.rename(path, path + '_whole')
    with open(path + '_whole', 'rb') as source, open(path, 'wb') as f:
        f.write(source.read(100))
        f.flush()
        print('started', flush=True)
        time.sleep(1)
        shutil.copyfileobj(source, f)


def stay():
    os.close(1)
    os.close(2)
    time.sleep(30)


def fail(trainer):
    raise ZeroDivisionError


def main(writer_name, ending, out):
    writer = getattr(snapshot_writers, writer_name)(save_slowly)
    model = L.Linear(3, 2)
    if ending == 'no finalize':
        writer('model', out, serializers.npz.serialize(model))
        return
    optimizer = optimizers.SGD().setup(model)
    iterator = iterators.SerialIterator(numpy.ones((8, 3), 'f'), 4)
    updater = training.StandardUpdater(iterator, optimizer, loss_func=lambda x: model(x).array.sum())
    updater.update_core = lambda: time.sleep(0.01)
    trainer = training.Trainer(updater, (1 if ending == 'end' else 3000, 'iteration'), out)
    trainer.extend(extensions.snapshot(target=model, filename='model', writer=writer),
                   trigger=training.triggers.ManualScheduleTrigger(1, 'iteration'))
    if multiprocessing.get_start_method() == 'fork':
        # It inherits what is open here, among it the pipe that ends with this process.
        multiprocessing.Process(target=stay, daemon=True).start()
    if ending == 'exception':
        trainer.extend(fail, priority=-1000)
    trainer.run()


if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    main(*sys.argv[2:])
"""


UPDATER_PROGRAM = """
import sys, time, types
import numpy
import chainer
import chainer.links as L
from chainer import iterators, optimizers, training
from chainer.training.updaters import multiprocess_parallel_updater as module

# Stands for the library of GPUs.
nccl = types.SimpleNamespace(get_unique_id=lambda: 'id', NcclCommunicator=lambda *args: None)
module._nccl = lambda: nccl
module.cuda = types.SimpleNamespace(
    GpuDevice=chainer.backend.CpuDevice, Stream=types.SimpleNamespace(null=None)
)

_, ending, out = sys.argv
updater = module.MultiprocessParallelUpdater(
    [iterators.SerialIterator(numpy.ones((8, 3), 'f'), 4) for _ in range(3)],
    optimizers.SGD().setup(L.Linear(3, 2)),
    devices=['@numpy'] * 3,
)
updater.setup_workers()
print('started', flush=True)
if ending != 'no finalize':
    time.sleep(60)
"""


def start(tmp_path, program, *args):
    path = tmp_path / 'train.py'
    path.write_text(program)
    (tmp_path / 'out').mkdir()
    return start_python(str(path), *args, str(tmp_path / 'out'))


def end(process, ending):
    """Lets a training end; returns its errors, when nothing has its output open."""
    try:
        assert process.stdout.readline() == 'started\n', process.communicate(timeout=30)
        if ending.startswith('group '):
            os.killpg(process.pid, getattr(signal, ending[6:]))
        elif ending.startswith('SIG'):
            process.send_signal(getattr(signal, ending))
        return process.communicate(timeout=30)[1]
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(10)
        process.stdout.close()
        process.stderr.close()


ENDINGS = {
    'SIGKILL': -9,
    'SIGTERM': -15,
    'group SIGTERM': -15,
    'SIGINT': -2,
    'group SIGINT': -2,
    'exception': 1,
    'end': 0,
    'no finalize': 0,
}


@pytest.mark.parametrize(
    'method, writer, endings',
    [
        ('fork', 'ProcessQueueWriter', [*ENDINGS]),
        ('spawn', 'ProcessQueueWriter', ['SIGKILL', 'SIGINT', 'no finalize']),
        ('forkserver', 'ProcessQueueWriter', ['SIGKILL']),
        ('fork', 'ProcessWriter', ['SIGKILL', 'group SIGTERM', 'group SIGINT']),
        ('fork', 'ThreadQueueWriter', ['SIGKILL', 'group SIGTERM', 'group SIGINT', 'no finalize']),
    ],
)
def test_writers(tmp_path, method, writer, endings):
    """Processes complete the snapshot of a killed training; threads drop it."""

    def run(ending):
        folder = tmp_path / ending
        folder.mkdir()
        process = start(folder, PROGRAM, method, writer, ending)
        stderr = end(process, ending)
        assert process.returncode == ENDINGS[ending], stderr
        names = os.listdir(folder / 'out')
        if writer == 'ThreadQueueWriter' and ('KILL' in ending or 'TERM' in ending):
            assert 'model' not in names
        else:
            assert names == ['model']
            serializers.load_npz(folder / 'out' / 'model', L.Linear(3, 2))

    with futures.ThreadPoolExecutor(len(endings)) as pool:
        for future in [pool.submit(run, ending) for ending in endings]:
            future.result()


EARLY_PROGRAM = """
import os, signal, sys
import numpy
from chainer.training.extensions import snapshot_writers

_, writer, out = sys.argv
for signum in signal.SIGINT, signal.SIGTERM:
    os.register_at_fork(after_in_child=lambda signum=signum: os.kill(os.getpid(), signum))
writer = getattr(snapshot_writers, writer)()
writer('model', out, {'x': numpy.ones(3)})
writer.finalize()
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


@pytest.mark.parametrize('writer', ['ProcessQueueWriter', 'ProcessWriter'])
def test_signals_before_the_process_has_its_handlers(tmp_path, writer):
    process = start(tmp_path, EARLY_PROGRAM, writer)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, 'set()\n'), err
    assert os.listdir(tmp_path / 'out') == ['model']


@pytest.mark.parametrize('ending', ['SIGKILL', 'SIGTERM', 'group SIGTERM', 'SIGINT', 'no finalize'])
def test_multiprocess_parallel_updater(tmp_path, ending):
    process = start(tmp_path, UPDATER_PROGRAM, ending)
    end(process, ending)
    assert process.returncode == ENDINGS[ending]
