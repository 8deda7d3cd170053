"""What every test of ChainerX gets: no array may outlive the test that made it."""

import gc

import pytest

import chainerx


@pytest.fixture(autouse=True)
def _no_leaked_arrays():
    before = chainerx._core._live_array_count()
    yield
    if chainerx._core._live_array_count() > before:
        gc.collect()  # arrays in cycles of Python objects are no leak
        leaked = chainerx._core._live_array_count() - before
        if leaked > 0:
            pytest.fail(f'{leaked} arrays are still alive')
