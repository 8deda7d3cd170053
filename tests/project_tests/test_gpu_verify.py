"""The command that verifies the GPU code works as far as that shows without a GPU."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

import gpu_carry  # noqa: E402
import gpu_parts  # noqa: E402
import gpu_verify  # noqa: E402

SANITIZER = '========= COMPUTE-SANITIZER\n'


def run(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / 'tools' / 'gpu_verify.py', *arguments],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize('part', gpu_parts.PARTS)
def test_commands_exist(part):
    command, _ = gpu_parts.PARTS[part]
    paths = [word.removeprefix('--ignore=') for word in command]
    paths = [p.partition('::')[0] for p in paths if p.startswith(('tests/', 'tools/', 'benchm'))]
    assert paths and all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize('node', [n for n in gpu_parts.PARTS['first'][0] if '::' in n])
def test_what_comes_first_exists(node):
    path, _, name = node.partition('::')
    assert re.search(rf'^(def|class) {name}\b', (ROOT / path).read_text(), re.M)


def test_rows_exist():
    list_rows = [sys.executable, ROOT / 'benchmarks' / 'run.py', '--list']
    done = subprocess.run(list_rows, capture_output=True, text=True, check=True)
    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert set(gpu_parts.ROWS) <= names


def test_without_gpu():
    if shutil.which('nvidia-smi'):
        pytest.skip('there may be a GPU')
    done = run('build')
    assert done.returncode == 1 and not done.stdout
    assert 'there is no GPU here' in done.stderr


def test_arguments():
    done = run('nonsense')
    assert done.returncode == 2 and 'choose from build, first, ' in done.stderr
    done = run('--list')
    assert [line.split(':')[0] for line in done.stdout.splitlines()] == list(gpu_parts.PARTS)


@pytest.mark.parametrize(
    'output, counts, failures',
    [
        ('....\n2 passed in 22.51s\n', {'passed': 2}, []),
        (
            'FAILED tests/a.py::test_b[x - y] - AssertionError: 1\nERROR tests/a.py::test_c\n'
            '== 1 failed, 3 passed, 2 skipped, 1 error in 61.20s (0:01:01) ==\n',
            {'failed': 1, 'passed': 3, 'skipped': 2, 'error': 1},
            ['tests/a.py::test_b[x - y]', 'tests/a.py::test_c'],
        ),
        (
            f'{SANITIZER}5 passed in 1.0s\n========= ERROR SUMMARY: 7 errors\n',
            {'passed': 5, 'sanitizer reports': 7},
            [],
        ),
        (  # of several processes
            f'{SANITIZER}========= ERROR SUMMARY: 3 errors\n5 passed in 1.0s\n'
            '========= ERROR SUMMARY: 0 errors\n========= ERROR SUMMARY: 4 errors\n',
            {'passed': 5, 'sanitizer reports': 7},
            [],
        ),
        (  # of a process that was killed, and of one that goes on
            f'{SANITIZER}..========= Invalid __global__ read of size 4 bytes\n'
            '=========     at kernel+0x10\n=========     by thread (0,0,0) in block (0,0,0)\n'
            '========= \n.\n3 passed in 1.0s\n========= Target application returned an error\n'
            '========= ERROR SUMMARY: 0 errors\n',
            {'passed': 3, 'sanitizer reports': 1},
            [],
        ),
        (
            f'{SANITIZER}5 passed in 1.0s\n'
            '========= Warning: Race reported between Read access at a and Write access at b\n'
            '=========     at kernel\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n',
            {'passed': 5, 'sanitizer reports': 0},
            [],
        ),
        ('killed', {}, []),
    ],
)
def test_summary(output, counts, failures):
    assert gpu_verify.summarize(output) == (counts, failures)


def test_table():
    parts = {
        'cuda': {'status': 'passed', 'counts': {'passed': 9}, 'output': '| no table |'},
        'first': {'status': 'passed', 'counts': {}, 'output': ''},
    }
    for name, cell in ('mlp', '1 ms (0.50x)'), ('cnn', '2 ms (2.00x)'):
        output = f'x\n| one step | A |\n|---|---|\n| `{name}` | {cell} |\n'
        parts[f'benchmark-{name}'] = {'status': 'passed', 'counts': {}, 'output': output}
    report = {'date': '2026-01-02', 'device': 'Some GPU', 'driver': '580', 'parts': parts}
    text = gpu_verify.table([report])
    assert '   * - 2026-01-02\n     - Some GPU\n     - 580\n     - cuda\n' in text
    assert '     - passed (9 passed)\n   * -\n     -\n     -\n     - first\n' in text
    assert text.count('Some GPU, 2026-01-02:\n') == 1 and 'benchmark' not in text
    assert '   * - mlp\n     - 1 ms (0.50x)\n   * - cnn\n     - 2 ms (2.00x)\n' in text
    assert 'no GPU run recorded yet' in gpu_verify.table([])


def test_page_is_made_of_the_reports():
    reports = [json.loads(path.read_text()) for path in sorted(gpu_verify.REPORTS.glob('*.json'))]
    assert gpu_verify.PAGE.read_text().endswith('\n\n' + gpu_verify.table(reports))


def test_budget(monkeypatch, tmp_path, capsys):
    limits = {}

    def run_part(name, extra, emulated, capability, seconds, logs):
        limits[name] = seconds
        time.sleep(0.2)
        return {'status': 'passed'}

    monkeypatch.setattr(gpu_verify, 'run_part', run_part)
    monkeypatch.setattr(gpu_verify, 'EMULATION', tmp_path)
    arguments = ['--emulated', 'cuda', 'chainer', 'first', '--budget', '20.3']
    assert gpu_verify.main(arguments) is None
    assert list(limits) == ['cuda', 'chainer'] and 20 < limits['chainer'] < limits['cuda'] < 20.3
    assert 'first: skipped: the budget is spent' in capsys.readouterr().out
    assert gpu_verify.main(['--emulated', 'cuda']) is None
    assert limits['cuda'] == gpu_verify.EMULATED_SECONDS


def test_resume(monkeypatch, tmp_path):
    ran = []
    statuses = iter(['passed', 'failed: status 1', 'passed'])

    def run_part(name, *arguments):
        ran.append(name)
        return {'status': next(statuses)}

    monkeypatch.setattr(gpu_verify, 'run_part', run_part)
    monkeypatch.setattr(gpu_verify, 'EMULATION', tmp_path)
    arguments = ['--emulated', 'first', 'cuda', '--report', str(tmp_path / 'report.json')]
    assert gpu_verify.main(arguments) == 'not passed: cuda'
    assert gpu_verify.main([*arguments, '--resume']) is None
    assert ran == ['first', 'cuda', 'cuda']


@pytest.mark.slow
def test_late_part_has_counts(monkeypatch, tmp_path):
    test = tmp_path / 'test_late.py'
    test.write_text(
        'import time\n\n\ndef test_wrong():\n    assert False\n\n\n'
        'def test_late():\n    time.sleep(600)\n'
    )
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(test)]
    monkeypatch.setitem(gpu_parts.PARTS, 'late', (command, {}))
    result = gpu_verify.run_part('late', [], False, '', 10)
    assert result['status'] == 'failed: more than 10 seconds'
    assert result['counts'] == {'failed': 1}
    assert [name.rpartition('::')[2] for name in result['failures']] == ['test_wrong']


def test_reports_of_the_sanitizer_fail_a_part(monkeypatch):
    """Whatever the status of the process that is run first."""
    text = f'{SANITIZER}1 passed in 1.0s\n========= ERROR SUMMARY: {{}} error(s)\n'
    for n, status in (0, 'passed'), (1, 'failed: the sanitizer reports errors'):
        command = [sys.executable, '-c', f'print({text.format(n)!r})']
        monkeypatch.setitem(gpu_parts.PARTS, 'memcheck-some', (command, {}))
        assert gpu_verify.run_part('memcheck-some', [], False, '', 60)['status'] == status


@pytest.mark.slow
def test_other_plugins_of_pytest_are_off(monkeypatch, tmp_path):
    """Their warnings would be errors."""
    (tmp_path / 'warns.py').write_text('import warnings\nwarnings.warn("no xdist, please")\n')
    folder = tmp_path / 'warns-1.0.dist-info'
    folder.mkdir()
    (folder / 'METADATA').write_text('Metadata-Version: 2.1\nName: warns\nVersion: 1.0\n')
    (folder / 'entry_points.txt').write_text('[pytest11]\nwarns = warns\n')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    command, variables = gpu_parts.PARTS['first']
    command = [*command[: command.index('-m', 3)], '-W', 'error', __file__, '-k', 'test_table']
    monkeypatch.setitem(gpu_parts.PARTS, 'some', (command, variables))
    assert gpu_verify.run_part('some', [], False, '', 300)['status'] == 'passed'
    monkeypatch.setitem(gpu_parts.PARTS, 'some', (command, {}))
    assert gpu_verify.run_part('some', [], False, '', 300)['status'] != 'passed'


def test_carried_folder(monkeypatch, tmp_path, capsys):
    downloaded = []

    def download(folder, python, packages):
        folder.mkdir()
        downloaded.append(packages)

    monkeypatch.setattr(gpu_carry, 'download', download)
    assert gpu_carry.main([str(tmp_path / 'x')]) is None
    assert {path.name for path in (tmp_path / 'x').iterdir()} == {
        'chainer.tar.gz', 'install.sh', 'wheels',
    }  # fmt: skip
    with tarfile.open(tmp_path / 'x' / 'chainer.tar.gz') as archive:
        assert {'setup.py', 'tools/gpu_verify.py'} <= set(archive.getnames())
    assert re.search(r'x: \d+\.\d MiB', capsys.readouterr().out)
    assert 'exists' in gpu_carry.main([str(tmp_path / 'x')])
    monkeypatch.setattr(gpu_carry, 'LARGEST', 1 << 20)
    arguments = [str(tmp_path / 'y'), '--without', 'cmake', 'mpich']
    assert gpu_carry.main(arguments) == 'that is more than 1 MiB'
    assert set(downloaded[0]) - set(downloaded[1]) == {'cmake', 'mpich'}
    script = (tmp_path / 'y' / 'install.sh').read_text()
    assert ' ninja ' in script and 'cmake' not in script


@pytest.mark.slow
@pytest.mark.skipif(not gpu_verify.EMULATION.exists(), reason='needs the emulated CUDA backend')
def test_emulated(tmp_path):
    path = tmp_path / 'reports' / 'report.json'
    logs = '--logs', tmp_path / 'logs'
    done = run('--emulated', 'cuda', '--select', 'test_devices', '--report', path, *logs)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(path.read_text())
    assert report['device'] == 'emulated' and list(report['parts']) == ['cuda']
    part = report['parts']['cuda']
    assert part['status'] == 'passed' and part['counts']['passed'] and not part['failures']
    assert 'cuda: passed' in done.stdout
    assert 'passed' in (tmp_path / 'logs' / 'cuda.log').read_text()
    done = run('--emulated', 'cuda', '--select', 'no_such_test', '--report', path)
    assert done.returncode == 1 and 'not passed: cuda' in done.stderr
    assert json.loads(path.read_text())['parts']['cuda']['status'] == 'failed: status 5'
