"""Ends a process of pytest whose GPU is lost: every later call of CUDA would fail in it.

pytest-xdist starts another worker in its place, and names the test that ended this one.
"""

import os
import re
import sys

import pytest

# A kernel has done something after which the context serves no calls.
_LOST = re.compile(
    'cudaError(IllegalAddress|MisalignedAddress|IllegalInstruction|InvalidAddressSpace|InvalidPc|'
    'HardwareStackError|LaunchFailure|LaunchTimeout|Assert)'
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.excinfo is None or not _LOST.search(str(call.excinfo.value)):
        return report
    message = f'{item.nodeid} has lost the GPU:\n{report.longreprtext}\n'
    if 'PYTEST_XDIST_WORKER' not in os.environ:
        pytest.exit(message, returncode=3)
    sys.__stderr__.write(message)
    sys.__stderr__.flush()
    os._exit(3)
