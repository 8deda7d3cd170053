"""What the launcher concludes from the reports of the guards, with a clock of the test."""

import itertools

import pytest

from chainermn import _judge

LIMIT = 10
STEP = 0.25  # seconds between reports


def collective(key, size=3, ranks='0-2'):
    return {'text': f'text of {key}', 'name': 'bcast', 'key': key, 'size': size, 'ranks': ranks}


def message(name, peer, tag=0, key='world'):
    return {'text': f'text of {name}', 'name': name, 'key': key, 'peer': peer, 'tag': tag}


class Job:
    """Ranks that send the same beats again and again."""

    def __init__(self, beats, size=None):
        self.now = 100.0
        self.judge = _judge.Judge(LIMIT, lambda: self.now)
        self.size = len(beats) if size is None else size
        self.reports = {}
        self._ticks = itertools.count()
        self.lines = []
        for i in range(len(beats)):
            self.judge.add(i, f'rank {i} on host')
            self.set(i, beats[i])

    def set(self, rank, beat, state='S', computes=False):
        """Changes what a rank does; ``None`` for no beat, a tuple for further values of it."""
        values = {}
        if isinstance(beat, tuple):
            beat, values = beat
        if beat is not None:
            beat = {
                'rank': rank,
                'size': self.size,
                'progress': [next(self._ticks), 0, 0],
                'line': 'train.py:7 in f',
                'call': None if beat == 'runs' else beat,
                'may_go_on': False,
                **values,
            }
        self.reports[rank] = beat, state, computes

    def run(self, seconds):
        """Returns the reason to end, and after how many seconds it came."""
        start = self.now
        while self.now < start + seconds:
            for rank, (beat, state, computes) in self.reports.items():
                ticks = next(self._ticks) if computes else 0
                self.judge.hear(rank, {'beat': beat, 'state': state, 'cpu': ticks})
            line, reason = self.judge.look()
            if line is not None:
                self.lines.append((self.now - start, line))
            if reason is not None:
                return reason, self.now - start
            self.now += STEP
        return None, None


SAME, OTHER = collective('a'), collective('b')
PAIR = collective('p', 2, '0-1')


@pytest.mark.parametrize(
    'beats, limit',
    [
        # Calls that do not match.
        ([SAME, SAME, OTHER], LIMIT),
        ([SAME, SAME, message('recv', 0)], LIMIT),
        ([SAME, SAME, message('send', 0)], LIMIT),
        ([message('send', 1), message('send', 0)], LIMIT),
        ([message('recv', 1), message('recv', 2), message('recv', 0)], LIMIT),
        ([message('send', 1, tag=1), message('recv', 0, tag=2)], LIMIT),
        ([message('send', 1), message('recv_obj', 0)], LIMIT),
        ([message('send', 1), message('recv', 0, key='others')], LIMIT),
        ([message('send', 2), message('recv', 0), message('recv', 1)], LIMIT),
        ([message('send', -1), SAME], LIMIT),
        ([SAME, SAME, (SAME, {'ended': True})], LIMIT),
        ([message('recv', 1), (SAME, {'ended': True})], LIMIT),
        # Calls that match may take long.
        ([SAME, SAME, SAME], 10 * LIMIT),
        ([message('send', 1), message('recv', 0)], 10 * LIMIT),
        ([message('send_obj', 1, 3), message('recv_obj', None, None)], 10 * LIMIT),
        ([PAIR, PAIR, message('recv', 0)], 10 * LIMIT),
        ([message('send', 1), message('recv', 0), message('recv', 1)], 10 * LIMIT),
        # Somebody may come.
        ([SAME, SAME, 'runs'], None),
        ([SAME, SAME, (OTHER, {'may_go_on': True})], None),
        ([SAME, SAME, None], None),
        (['runs', 'runs', 'runs'], None),
        ([('runs', {'ended': True}), ('runs', {'ended': True})], None),
    ],
)  # fmt: skip
def test_verdict(beats, limit):
    job = Job(beats)
    reason, seconds = job.run(12 * LIMIT)
    assert seconds == limit
    if limit is not None:
        assert reason == (
            'all ranks have waited 10 seconds in calls that do not match'
            if limit == LIMIT
            else 'no rank has made progress for 100 seconds'
        )


@pytest.mark.parametrize(
    'beat, state, computes, seconds',
    [
        ('runs', 'T', False, LIMIT),
        (SAME, 'T', False, LIMIT),
        (None, 'T', False, LIMIT),  # before its first communicator
        ('runs', 't', False, None),  # a debugger
    ],
)
def test_stopped_rank(beat, state, computes, seconds):
    job = Job([SAME, SAME, beat])
    job.set(2, beat, state, computes)
    reason, found = job.run(3 * LIMIT)
    assert found == seconds
    assert seconds is None or reason.startswith('rank 2 on host: stopped for 10 s')


@pytest.mark.parametrize('computes, state', [(False, 'D'), (True, 'R'), (False, 't'), (False, 'X')])
def test_rank_without_beats(computes, state):
    """A call that lets no other thread run computes; a process that cannot do that is lost."""
    job = Job([SAME, SAME, 'runs'])
    assert job.run(1) == (None, None)
    job.set(2, None, state, computes)
    reason, _ = job.run(4 * LIMIT)
    if computes or state in 'tX':
        assert reason is None
        assert 'not there: rank 2 on host: no sign of it for' in job.lines[-1][1]
    else:
        assert reason.startswith('rank 2 on host: no sign of it for 10 s, last at train.py:7 in f')


def test_guard_without_answers():
    job = Job([SAME, SAME, 'runs'])
    job.run(1)
    del job.reports[2]
    reason, seconds = job.run(4 * LIMIT)
    assert LIMIT - 1 <= seconds <= LIMIT + 1 and reason.startswith('rank 2 on host')


def test_nobody_waits_for_a_stopped_rank():
    job = Job(['runs', 'runs'])
    job.set(0, 'runs', 'T')
    assert job.run(5 * LIMIT) == (None, None) and job.lines == []
    job.set(1, collective('a', 2, '0-1'))
    assert job.run(2 * LIMIT)[1] == LIMIT / 2


QUIET = 'runs', None, (SAME, {'ended': True})  # what a rank did before it gave no more beats


@pytest.mark.parametrize('beat', QUIET, ids=['runs', 'new', 'ended'])
@pytest.mark.parametrize('state', ['T', 'D'])
def test_nobody_gives_a_sign(beat, state):
    """The others may be in a call of MPI that keeps Python's lock, or in its end."""
    job = Job([beat, beat, 'runs'])
    assert job.run(1) == (None, None)
    job.set(0, None, 'R', computes=True)
    job.set(1, None, 'R', computes=True)
    job.set(2, None, state)
    reason, seconds = job.run(3 * LIMIT)
    assert LIMIT - STEP <= seconds <= LIMIT
    assert reason.startswith('rank 2 on host: ' + {'T': 'stopped', 'D': 'no sign of it'}[state])


def test_a_rank_that_goes_on_shields_a_stopped_one():
    job = Job(['runs', 'runs', 'runs'])
    job.set(2, 'runs', 'T')
    job.set(1, None, 'R', computes=True)
    assert job.run(5 * LIMIT) == (None, None)


def test_all_ranks_are_stopped():
    job = Job(['runs', SAME, None])
    for rank in range(3):
        job.set(rank, None, 'T')
    assert job.run(5 * LIMIT) == (None, None)


def test_rank_stopped_in_the_end_of_mpi():
    ended = 'runs', {'ended': True}
    job = Job([ended, ended, ended])
    job.set(2, ended, 'T')
    reason, seconds = job.run(3 * LIMIT)
    assert seconds == LIMIT and reason.startswith('rank 2 on host: stopped for 10 s')
    job = Job([ended, ended, ended])
    job.set(2, ended, 'T')
    assert job.run(1) == (None, None)
    del job.reports[2]
    job.judge.end(2)  # its process has gone on, and ended between two reports
    assert job.run(3 * LIMIT) == (None, None)


def test_continued_rank():
    job = Job([SAME, SAME, 'runs'])
    for state in 'TRTRT':
        job.set(2, 'runs', state)
        assert job.run(0.9 * LIMIT) == (None, None)


def test_unknown_ranks():
    """A rank that the launcher does not hear of may do anything."""
    assert Job([SAME, OTHER], size=3).run(20 * LIMIT) == (None, None)


def test_progress():
    """Each change of any rank shows that something goes on."""
    job = Job([SAME, SAME, OTHER])
    for _ in range(5):
        assert job.run(0.9 * LIMIT) == (None, None)
        job.set(2, OTHER)
    assert job.run(2 * LIMIT)[0] is not None


def test_pause_of_the_launcher():
    job = Job([SAME, SAME, OTHER])
    job.set(1, SAME, 'T')
    job.run(0.4 * LIMIT)
    job.now += 1000
    assert job.run(0.4 * LIMIT) == (None, None)
    assert job.run(LIMIT)[0] is not None


def test_launcher_that_comes_late():
    """Each look counts for some time, so a loaded machine does not stop the clock."""
    job = Job([SAME, SAME, SAME])
    for _ in range(3 * LIMIT):
        job.now += 3
        for rank, (beat, _, _) in job.reports.items():
            job.judge.hear(rank, {'beat': beat, 'state': 'RRT'[rank], 'cpu': 0})
        _, reason = job.judge.look()
        if reason is not None:
            break
    assert reason.startswith('rank 2 on host: stopped')


def test_lines():
    """One when half of the limit is over, then one each limit, and again for the next wait."""
    job = Job([SAME, SAME, 'runs'])
    job.run(3.6 * LIMIT)
    assert [seconds for seconds, _ in job.lines] == [5, 15, 25, 35]
    assert job.lines[0][1] == (
        'ranks 0-1 wait in text of a, at train.py:7 in f, for 5 s; '
        'not there: rank 2 on host: outside of calls, at train.py:7 in f, for 5 s'
    )
    for rank in range(3):
        job.set(rank, collective('c'))
    job.lines.clear()
    job.run(0.6 * LIMIT)
    assert len(job.lines) == 1 and job.lines[0][1].endswith('; all ranks are there')


@pytest.mark.parametrize(
    'beats, absent',
    [
        ([SAME, OTHER, SAME], [1]),
        ([SAME, ('runs', {'ended': True}), 'runs'], [1, 2]),
        ([PAIR, 'runs', 'runs'], [1]),
        ([message('recv', 2), 'runs', 'runs'], [2]),
        ([message('recv', None), 'runs', 'runs'], [1, 2]),
        ([message('recv', 1), message('send', 0), 'runs'], []),
        ([SAME, None, 'runs'], [1, 2]),
    ],
)
def test_absent_ranks(beats, absent):
    job = Job(beats)
    job.run(0.6 * LIMIT)
    [(_, line)] = job.lines
    assert line.startswith('rank')
    _, _, text = line.partition('; ')
    assert [i for i in range(3) if f'rank {i} on host' in text] == absent


def test_many_ranks():
    n = 1000
    same = collective('a', n, f'0-{n - 1}')
    job = Job(['runs'] * (n // 2) + [same] * (n // 2))
    job.run(0.6 * LIMIT)
    assert job.lines[0][1].startswith('ranks 500-999 wait')
    assert job.lines[0][1].endswith('; and 492 more') and len(job.lines[0][1]) < 1000


def test_table():
    last = [f'call {i}' for i in range(30)]
    job = Job([(SAME, {'last': last}), OTHER, 'runs'])
    job.run(1)
    lines = job.judge.table()
    assert lines[0] == '  rank 0 on host: in text of a, at train.py:7 in f, for 1 s'
    assert 'call 29' in lines[1] and 'call 0' not in lines[1]
    assert [line.split(':')[0] for line in lines if line.startswith('  rank')] == [
        f'  rank {i} on host' for i in range(3)
    ]


@pytest.mark.parametrize(
    'report',
    [
        None,
        3,
        [],
        {},
        {'beat': None, 'state': 'S'},
        {'beat': None, 'state': 3, 'cpu': 0},
        {'beat': None, 'state': 'S', 'cpu': 'x'},
        {'beat': [], 'state': 'S', 'cpu': 0},
        {'beat': {'rank': 0}, 'state': 'S', 'cpu': 0},
        {'beat': {'rank': 'x', 'size': 1}, 'state': 'S', 'cpu': 0},
    ],
)
def test_bad_reports(report):
    judge = _judge.Judge(LIMIT)
    judge.add(0, 'rank 0')
    with pytest.raises((ValueError, TypeError, KeyError)):
        judge.hear(0, report)


def test_text_cannot_command_a_terminal():
    bad = 'a\x1b[2J\nchainermn.run: ' + 'x' * 1000
    job = Job([({**SAME, 'text': bad}, {'line': bad, 'last': [bad] * 100}), 'runs', 'runs'])
    job.run(0.6 * LIMIT)
    for text in job.lines[0][1], *job.judge.table():
        assert text.isprintable() and len(text) < 5000


def test_rank_that_others_waited_for_ends():
    """Their next reports tell whether its last call has let them go on."""
    pair = collective('p', 2, '0-1')
    job = Job([pair, 'runs'])
    assert job.run(3 * LIMIT) == (None, None)
    job.judge.end(1)
    assert job.run(0.9 * LIMIT) == (None, None)
    reason, seconds = job.run(LIMIT)
    assert 'do not match' in reason and seconds == pytest.approx(0.1 * LIMIT, abs=2 * STEP)
