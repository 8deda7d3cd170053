"""The benchmarks run, with their smallest sizes."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers import mpi

import chainerx

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow

COMMANDS = [
    'run.py add add-recorded mlp-tiny cnn-tiny lstm-tiny gpt-tiny --compiled --rounds 1 --seconds 1e-5 --no-process',
    'single_ops.py add exp --rounds 1 --seconds 1e-5 --kind small',
    'optimizers.py --parameters 2 --size 2 --rounds 1 --calls 1 --hooks',
    f'compare_trees.py {ROOT} {ROOT} mlp-tiny --engines chainerx --rounds 1',
    'budgets.py --repeats 1',
    'core_types.py --rounds 1',
    'inference.py mlp-tiny mobilenet bigru-1 decoder-tiny --rounds 1 --seconds 1e-5',
    'conv_layers.py 1x64x56 --rounds 1 --seconds 1e-5',
    'node_cost.py --rounds 1',
    'first_call.py mlp-tiny --repeats 1',
    'precision.py mlp-tiny --precisions mixed16,mixed_bfloat16 --rounds 1 --seconds 1e-5 --updates 2',
    'precision_losses.py --seeds 1 --steps 1 --copies 1',
    'shapes.py --counts 2 --repeats 1',
    'distributed.py mlp-tiny --rounds 1 --seconds 1e-5 --engines numpy --states whole,sharded,gradients,parameters',
    'simulate.py mlp-tiny --rounds 1 --steps 1',
    'pipeline.py --batch 4 --micro-batches 2 --units 2 --rounds 1',
    'training_loop.py --rounds 1 --iterations 2 --images 100 --parameters 1',
]
EMULATION = ROOT / 'build' / 'chainerx' / 'cuda_emulation'
ON_GPUS = [
    'run.py add add-recorded mlp-tiny --rounds 1 --seconds 1e-5',
    'run.py resnet50-tiny resnet50-tiny-mixed16 --rounds 1 --seconds 1e-5',
    'bandwidth.py --elements 100 --rounds 1 --seconds 1e-5',
    'gemm.py --size 8 --rounds 1 --seconds 1e-5',
]


def test_every_script_is_here():
    scripts = {path.name for path in (ROOT / 'benchmarks').glob('*.py')} - {
        'decoder.py',
        'devices.py',
        'exported.py',
        'harness.py',
        'ranks.py',
        'shapes_jax.py',
    }
    assert scripts == {command.split()[0] for command in COMMANDS + ON_GPUS}


@pytest.mark.timeout(300)
@pytest.mark.parametrize('command', COMMANDS, ids=lambda command: command.split()[0])
def test_benchmark(command, tmp_path):
    if find_spec('torch') is None or not chainerx.is_available():
        pytest.skip('needs PyTorch and the compiled ChainerX core')
    if command.startswith(('distributed', 'pipeline', 'simulate')) and (
        mpi.reason_to_skip() or mpi.mpiexec() is None
    ):
        pytest.skip(mpi.reason_to_skip() or 'needs mpiexec')
    check_table(command, tmp_path, PYTHONPATH=str(ROOT))


@pytest.mark.parametrize('device', ['cuda:0', '@cupy:0'])
@pytest.mark.parametrize('command', ON_GPUS, ids=lambda command: command.split()[0])
def test_on_emulated_gpu(command, device, tmp_path):
    if not EMULATION.exists():
        pytest.skip('needs the emulated CUDA backend')
    stand_in = ROOT / 'tests' / 'helpers' / 'cupy_emulation'
    output = check_table(
        f'{command} --device {device}',
        tmp_path,
        PYTHONPATH=f'{ROOT}{os.pathsep}{stand_in}',
        CHAINERX_PATH=str(EMULATION),
        CHAINERX_CUDA_EMULATION_SHARED='1',
    )
    assert f'{device}, no GPU of NVIDIA' in output


def check_table(command, folder, **variables):
    script, *arguments = command.split()
    result = subprocess.run(
        [sys.executable, ROOT / 'benchmarks' / script, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count('\n|') >= 3, result.stdout  # a table, with its head
    return result.stdout
