"""Ranges for profilers, which tests can look at in ``calls``."""

calls = []


def RangePush(message, id_color=-1):
    calls.append(message)


def RangePop():
    calls.append(None)


def Mark(message, id_color=-1):
    calls.append(message)
