"""Tools for tests."""

from chainermn.testing.device import get_device as get_device
