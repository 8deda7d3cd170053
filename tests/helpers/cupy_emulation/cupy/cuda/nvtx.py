"""Ranges for profilers, which tests can look at in ``_calls``."""

_calls = []


def RangePush(message, id_color=-1):
    _calls.append(message)


def RangePop():
    _calls.append(None)


def Mark(message, id_color=-1):
    _calls.append(message)
