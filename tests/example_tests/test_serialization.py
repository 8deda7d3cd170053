import re

import pytest


@pytest.mark.parametrize('format', ['npz', 'hdf5'])
def test_save_and_load(run_example, device, format):
    if format == 'hdf5':
        pytest.importorskip('h5py')
    out = run_example('serialization/save_and_load.py', '-u', 10, '--format', format, '-d', device)
    loss, other_loss = re.findall(r'going on: +([\d.]+)', out)
    assert loss == other_loss
    if format == 'npz':
        assert 'first layers are equal: True' in out
