"""What a compiled function tells of itself: reports, tables, pictures, explanations."""

import copy
import itertools
import pathlib
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.compilation._reasons import Reasons
from tests.helpers.compiled import array

pytestmark = pytest.mark.chainerx

SVG = '{http://www.w3.org/2000/svg}'


def twice(x):
    return F.relu(x * 2 + 1).array


def reads(x, i):
    if i:
        float(x[0])
    return F.relu(x)


LINE = reads.__code__.co_firstlineno + 2


def training_step(**options):
    model = chainer.Sequential(L.Linear(4, 8), F.relu, L.Linear(8, 3))
    model.to_device('native:0')
    optimizer = chainer.optimizers.Adam().setup(model)

    @chainer.compile(**options)
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    batch = model.device.send((np.ones((5, 4), 'f'), np.zeros(5, 'i')))
    return step, batch


def rows_of(html):
    """Returns the texts of the cells of tables."""
    tree = ET.fromstring(f'<div>{html}</div>')
    return [[cell.text or '' for cell in row] for row in tree.iter('tr')]


class Rectangle:
    def __init__(self, node):
        x, y, width, height = (float(node.get(name)) for name in ('x', 'y', 'width', 'height'))
        self.left, self.top, self.right, self.bottom = x, y, x + width, y + height


# -- explain


def test_explain_names_the_line_once(capsys):
    function = chainer.compile(reads, explain=True)
    for _ in range(40):
        function(array([1], 'f'), 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        'chainer.compile: reads falls back to eager: the value of an array is read '
        f'(test_looking_inside.py:{LINE})'
    ]
    with chainer.function_hooks.TimerHook():
        for _ in range(40):
            function(array([1], 'f'), 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        'chainer.compile: reads falls back to eager: hooks of functions or links are active'
    ]


def test_explain_tells_at_once(capsys):
    function = chainer.compile(reads, explain=True)
    function(array([1], 'f'), 1)
    assert not capsys.readouterr().out
    function(array([1], 'f'), 1)
    assert 'is read' in capsys.readouterr().out


def test_explain_tells_what_has_changed(capsys):
    step, batch = training_step(explain=True)
    for _ in range(4):
        step(*batch)
    # A plan runs, and another shape has a plan of its own: nothing has changed.
    step(*[a[:2] for a in batch])
    assert not capsys.readouterr().out
    for _ in range(3):
        with chainer.using_config('train', False):
            step(*batch)
        step(*batch)
    assert capsys.readouterr().out == (
        'chainer.compile: training_step.<locals>.step records again: chainer.config has changed\n'
    )


def test_explain_tells_of_states(capsys):
    box = chainer.Link()
    box.h = array([1], 'f')

    @chainer.compile(explain=True)
    def add(x):
        box.h = box.h + x

    for _ in range(5):
        add(array([1], 'f'))
    assert add.replays
    box.h = array([1, 2], 'f')
    add(array([1], 'f'))
    assert capsys.readouterr().out == (
        'chainer.compile: test_explain_tells_of_states.<locals>.add records again: '
        'a state or an array has changed\n'
    )


def test_explain_compares_with_the_newest_plan(capsys):
    first, second = [1], [1]
    function = chainer.compile(lambda x: x * first[0] * second[0], explain=True)
    for numbers in [], first, second:
        numbers[:] = [2] * len(numbers)
        for _ in range(3):
            function(array([1], 'f'))
    lines = capsys.readouterr().out.splitlines()
    assert [line.rsplit(': ', 1)[1] for line in lines] == [
        'first has changed', 'second has changed'
    ]  # fmt: skip


def test_no_explanation_by_default(capsys):
    function = chainer.compile(reads)
    for _ in range(4):
        function(array([1], 'f'), 1)
    assert not capsys.readouterr().out


@pytest.mark.parametrize('explain', [True, False])
def test_copies_explain_as_well(explain, capsys):
    function = copy.copy(chainer.compile(max_plans=2, explain=explain)(reads))
    for _ in range(2):
        function(array([1], 'f'), 1)
    assert bool(capsys.readouterr().out) is explain


# -- reports and summaries


def test_table_of_reasons():
    function = chainer.compile(reads)
    assert rows_of(function.report()._repr_html_()) == []
    for _ in range(4):
        function(array([1], 'f'), 1)
        function._budget.wait = function._budget.sleep = 0
    with chainer.function_hooks.TimerHook():
        function(array([1], 'f'), 1)
    html = function.report()._repr_html_()
    assert rows_of(html) == [
        ['no plan, because', 'line', 'calls'],
        ['the value of an array is read', f'test_looking_inside.py:{LINE}', '3'],
        ['hooks of functions or links are active', '', '1'],
    ]
    assert '5 calls: 0 ran a plan, 0 made one, 5 ran eagerly' in html


def test_reasons():
    reasons = Reasons('f', False)
    for text in (
        'a (b.py:1)',
        'it calls f(x)',
        'a < b (lib) (a b.py:1, c.py:23)',
        'a (b.py:1)',
        'text (b.py:x)',
        'a\nb (b.py:2)',
    ):
        reasons.count(text)
    assert list(reasons) == [
        ('a', 'b.py:1', 2),
        ('it calls f(x)', '', 1),
        ('a < b (lib)', 'a b.py:1, c.py:23', 1),
        ('text (b.py:x)', '', 1),
        ('a\nb', 'b.py:2', 1),
    ]
    assert reasons.lines()[:2] == ['no plan: a (b.py:1) (2 times)', 'no plan: it calls f(x)']
    assert rows_of(reasons.html())[3][0] == 'a < b (lib)'


def test_table_of_plans():
    step, batch = training_step()
    assert rows_of(step.summary()._repr_html_()) == []
    for _ in range(4):
        step(*batch)
    step(*[a[:2] for a in batch])
    head, *rows = rows_of(step.summary()._repr_html_())
    plans = step._plans.in_order
    assert len(rows) == len(plans) == 2
    for i, (row, plan) in enumerate(zip(rows, plans)):
        values = dict(zip(head, row))
        assert values['plan'] == str(i)
        assert values['kernels'] == str(plan.plan.call_count)
        assert values['runs'] == str([0, 2][i])
        assert values['memory'] == str(plan.plan.scratch_bytes)
    everything = step._repr_html_()
    assert rows_of(everything)[-2:] == rows
    assert '6 calls' not in everything and '5 calls' in everything


def test_texts_stay_texts():
    function = chainer.compile(twice)
    assert isinstance(function.report(), str) and isinstance(function.summary(), str)
    assert function.report() + '' == '0 calls: 0 ran a plan, 0 made one, 0 ran eagerly'
    assert '<' not in function.report()


# -- pictures


@pytest.mark.parametrize('measure', [False, True])
def test_picture(measure, tmp_path):
    step, batch = training_step(measure=measure)
    for _ in range(4):
        step(*batch)
    picture = step.draw()
    assert picture._repr_svg_() == picture
    (tmp_path / 'plan.svg').write_text(picture)
    tree = ET.fromstring(pathlib.Path(tmp_path / 'plan.svg').read_text())
    assert tree.tag == f'{SVG}svg'
    plan = step._plans.in_order[0].plan
    texts = [node.text for node in tree.iter(f'{SVG}text')]
    assert f'{plan.call_count} kernels, ran 2 times' in texts[0]
    for i, line in enumerate(plan.describe().splitlines()):
        _, name, *_ = line.split()
        result = re.findall(r'\w+\(.*?\)', line)[-1]
        label = f'{i} {name} {result}'
        assert any(text[:50] == label[:50] for text in texts)  # a long one is cut
    bars = [node for node in tree.iter(f'{SVG}rect') if node.get('fill', '').startswith('#')]
    assert len(bars) == (plan.call_count if measure else 0)
    assert ('time: measure=True' in texts) is not measure
    blocks = [
        Rectangle(node) for node in tree.iter(f'{SVG}rect') if node.get('fill').startswith('hsl')
    ]
    assert len(blocks) == len(plan.blocks) > 3
    assert all(block.right <= float(tree.get('width')) for block in blocks)
    assert all(block.bottom <= float(tree.get('height')) for block in blocks)


def test_blocks_of_memory_do_not_overlap():
    step, batch = training_step()
    for _ in range(3):
        step(*batch)
    plan = step._plans.in_order[0].plan
    blocks = plan.blocks
    assert max(offset + size for _, _, offset, size in blocks) == plan.scratch_bytes
    assert sum(size for *_, size in blocks) == plan.unshared_scratch_bytes
    for first, last, offset, size in blocks:
        assert 0 <= first <= last < plan.call_count and size > 0 and offset >= 0
    for a, b in itertools.combinations(blocks, 2):
        is_apart_in_time = a[1] < b[0] or b[1] < a[0]
        is_apart_in_place = a[2] + a[3] <= b[2] or b[2] + b[3] <= a[2]
        assert is_apart_in_time or is_apart_in_place


def test_picture_without_memory():
    function = chainer.compile(lambda x: x.copy())
    for _ in range(3):
        function(array([1, 2], 'f'))
    tree = ET.fromstring(function.draw())
    assert 'memory: 0 bytes, 0 bytes without sharing' in [n.text for n in tree.iter(f'{SVG}text')]
    assert '&lt;lambda&gt;' in function.draw()


def test_pictures_of_plans():
    function = chainer.compile(twice)
    for n in 1, 1, 1, 3:
        function(array([1] * n, 'f'))
    assert 'float32(3,)' in function.draw() and 'float32(1,)' in function.draw(1)
    for i in -1, 2, 9:
        with pytest.raises(IndexError, match=f'there is no plan {i}: the function has 2'):
            function.draw(i)
    function.clear()
    with pytest.raises(IndexError, match='there is no plan 0: the function has 0'):
        function.draw()
