"""``from chainermn import nccl``, as programs of Chainer 7 import it."""

import pytest

from chainer.backends import cuda
from chainermn import nccl


def test_without_nccl(monkeypatch):
    monkeypatch.setattr(cuda, 'available', False)
    assert nccl.available is nccl._available is False
    assert not hasattr(nccl, 'get_version') and not hasattr(nccl, '__path__')
    with pytest.raises(AttributeError, match=r'chainermn\.nccl\.get_version needs CuPy with NCCL'):
        nccl.get_version()


@pytest.mark.gpu
def test_names():
    if not nccl.available:
        pytest.skip('needs NCCL')
    from cupy.cuda import nccl as expected

    assert nccl.NCCL_SUM == expected.NCCL_SUM
    assert nccl.NcclCommunicator is expected.NcclCommunicator
    with pytest.raises(AttributeError):
        nccl.no_such_name
