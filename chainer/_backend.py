"""The place of the base class of devices in Chainer 7."""

from chainer._core.devices.device import Device as Device
