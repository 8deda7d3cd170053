"""Runs ONNX's own conformance suite on a backend, and compares what fails with a list.

Lines of a list are ``case: reason``. A case that passes has to leave the list.
"""

import re
import warnings

import numpy as np
from onnx.backend.test.runner import Runner


def cases_of(backend):
    """The cases on the CPU by category and name."""

    class OnCpu(backend):
        @classmethod
        def supports_device(cls, device):
            return device == 'CPU'

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return {
            category: {
                name.removesuffix('_cpu'): item.func
                for name, item in items.items()
                if name.endswith('_cpu')
            }
            for category, items in Runner(OnCpu)._test_items.items()
        }


class Exceptions(dict):
    """The reasons of a list by the names of the cases."""

    def __init__(self, path):
        lines = path.read_text().splitlines()
        super().__init__(line.split(': ', 1) for line in lines if line and not line.startswith('#'))

    def check(self, cases, list_holds, may_pass=frozenset()):
        """Runs cases; without the list, as with other versions of ONNX, few more may fail."""
        failed = failures(cases)
        if not list_holds:
            assert len(failed.keys() - self.keys()) <= 0.04 * len(cases), failed
            return
        listed = self.keys() & cases.keys()
        assert {name: text for name, text in failed.items() if name not in listed} == {}
        assert listed - failed.keys() - may_pass == set()

    def check_names(self, suite):
        """Every line is of a case and has a reason."""
        known = {name for cases in suite.values() for name in cases}
        assert self.keys() - known == set()
        assert all(re.search(r'\w+ \w+', reason) for reason in self.values())


def failures(cases):
    """The first lines of the errors of the cases that fail."""
    failed = {}
    for name, run in cases.items():
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            try:
                run(None)
            except Exception as error:
                failed[name] = str(error).strip().split('\n')[0]
    return failed
