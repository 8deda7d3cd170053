"""Devices, the classes of their arrays and the layouts of memory."""
