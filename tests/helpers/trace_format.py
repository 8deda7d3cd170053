"""The rules of the Trace Event Format, which Perfetto and ``chrome://tracing`` read."""

import json

TIME = (int, float)
# The fields of each kind of event that Chainer writes, beside ``ph``.
COMMON = {'name': str, 'ts': TIME, 'pid': int, 'tid': int, 'args': dict}
FIELDS = {'X': {**COMMON, 'cat': str, 'dur': TIME}, 'C': COMMON, 'M': COMMON}


def _refuse(constant):
    raise AssertionError(f'JSON has no {constant}')


def read(path):
    """Returns the events of a file in the JSON object format, after comparing it with the rules."""
    with open(path) as file:
        trace = json.load(file, parse_constant=_refuse)
    assert set(trace) == {'traceEvents', 'displayTimeUnit'}
    assert trace['displayTimeUnit'] in ('ms', 'ns')
    events = trace['traceEvents']
    for event in events:
        _check_fields(event)
    _check_names(events)
    _check_nesting([event for event in events if event['ph'] == 'X'])
    return events


def _check_fields(event):
    fields = FIELDS[event['ph']]
    assert set(event) == {*fields, 'ph'}, event
    for name, kinds in fields.items():
        assert isinstance(event[name], kinds) and not isinstance(event[name], bool), event
    if event['ph'] == 'C':
        values = event['args'].values()
        assert values and all(isinstance(value, TIME) for value in values), event
    if event['ph'] == 'M':
        assert event['name'] in ('process_name', 'thread_name'), event
        assert isinstance(event['args']['name'], str), event


def _check_names(events):
    """Each process and each thread has one name; only workers began before the profile."""
    processes = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
    assert set(processes) == {e['pid'] for e in events}
    threads = [(e['pid'], e['tid']) for e in events if e['name'] == 'thread_name']
    assert sorted(threads) == sorted({(e['pid'], e['tid']) for e in events})
    assert all(e['ts'] >= 0 or 'worker' in processes[e['pid']] for e in events)


def _check_nesting(spans):
    """A span of a thread ends before another begins, or contains it."""
    open_ends = {}
    # Microseconds as floats: what was in order as an integer may differ in the last digit.
    for span in sorted(spans, key=lambda e: (e['ts'], -e['dur'])):
        assert span['dur'] >= 0, span
        ends = open_ends.setdefault((span['pid'], span['tid']), [])
        while ends and ends[-1] <= span['ts'] + 1e-3:
            ends.pop()
        end = span['ts'] + span['dur']
        assert not ends or end <= ends[-1] + 1e-3, f'{span} ends after the span around it'
        ends.append(end)
