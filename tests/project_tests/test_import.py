import json
import subprocess
import sys

HEAVY = [
    'multiprocessing',
    'concurrent',
    'asyncio',
    'socket',
    'ssl',
    'http',
    'urllib.request',
    'subprocess',
    'tempfile',
    'shutil',
    'zipfile',
    'gzip',
    'uuid',
    'unittest',
    'scipy',
    'h5py',
    'matplotlib',
    'PIL',
    'cupy',
    'filelock',
    'pandas',
    'pytest',
]


def _run(code):
    output = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    ).stdout
    return json.loads(output)


def test_import_is_light():
    code = """
import sys, numpy
before = set(sys.modules)
import chainer
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    loaded = _run(code)
    assert not set(HEAVY) & set(loaded)
    # Subpackages come with their first use.
    assert 'chainer.functions' in loaded
    assert 'chainer.links' not in loaded and 'chainer.training' not in loaded


def test_subpackages_are_attributes():
    code = """
import json
import chainer
names = [name for name in dir(chainer) if name in chainer._LAZY]
print(json.dumps([name for name in names if getattr(chainer, name).__name__ == 'chainer.' + name]))
"""
    assert _run(code) == sorted(
        [
            'computational_graph',
            'dataset',
            'datasets',
            'distributions',
            'exporters',
            'function_hooks',
            'gradient_check',
            'iterators',
            'link_hooks',
            'links',
            'optimizer_hooks',
            'optimizers',
            'serializers',
            'training',
        ]
    )


def test_unknown_attribute():
    import chainer

    assert not hasattr(chainer, 'nothing')
