"""Shapes and the order of elements."""
import copy

import numpy as np

from chainerx import ChainerxError, DimensionError, DtypeError
from op_table.bench import matrix, small
from op_table.inputs import In
from op_table.row import ALL, Row, sequence, zeros


def _copyto(dst, src, **kwargs):
    dst = dst.copy()
    np.copyto(dst, src, **kwargs)
    return dst


def _call_copyto(f, arrays, kwargs):
    if f is _copyto:
        return f(*arrays, **kwargs)
    dst = copy.copy(arrays[0])
    f(dst, arrays[1], **kwargs)
    return dst


def _call_meshgrid(f, arrays, kwargs):
    return f(*arrays, **kwargs) if f is np.meshgrid else f(list(arrays), **kwargs)


_NO_SEQUENCE = [(DimensionError, lambda f: f([zeros(2, 3, 4), zeros(3, 2, 2)])), (ChainerxError, lambda f: f([]))]
_NO_MATRIX = [(DimensionError, lambda f: f(zeros()))]

ROWS = [
    Row('reshape', np.reshape, [[In(2, 6)]], ALL, call=lambda f, a, kw: f(a[0], (3, -1)), bench=[small('a.reshape(2, 8)')],
        wrong=[(DimensionError, lambda f: f(zeros(6), (4, -1))),
               (DimensionError, lambda f: f(zeros(6), (-1, -1))),
               (DimensionError, lambda f: f(zeros(6), 5)),
               (TypeError, lambda f: f(zeros(6), 'x'))]),
    Row('ravel', np.ravel, [[In(2, 3)]], ALL),
    Row('transpose', np.transpose, [[In(2, 3, 4)], [In(2, 3, 4), {'axes': (1, 2, 0)}], [In(2, 3), {'axes': (-1, 0)}]], ALL, bench=[small('a.transpose()', 'a.t()', 'a.transpose()')],
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), (0, 0))), (DimensionError, lambda f: f(zeros(2, 3), (0, 1, 2)))]),
    Row('squeeze', np.squeeze, [[In(1, 3, 1)], [In(1, 3, 1), {'axis': -1}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(2, 1), 0))]),
    Row('expand_dims', np.expand_dims, [[In(2, 3), {'axis': 1}], [In(2, 3), {'axis': -1}]], ALL),
    Row('swapaxes', np.swapaxes, [[In(2, 3, 4), {'axis1': 0, 'axis2': -1}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(2), 0, 1))]),
    Row('moveaxis', np.moveaxis, [[In(2, 3, 4), {'source': 0, 'destination': -1}], [In(2, 3, 4), {'source': (0, 1), 'destination': (2, 0)}]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), (0, 1), 0)), (DimensionError, lambda f: f(zeros(2, 3), (0, 0), (0, 1)))]),
    Row('rollaxis', np.rollaxis, [[In(2, 3, 4), {'axis': 2}], [In(2, 3, 4), {'axis': 0, 'start': 3}]], ALL),
    Row('flip', np.flip, [[In(2, 3)], [In(2, 3), {'axis': 1}], [In(2, 3), {'axis': (0, 1)}]], ALL),
    Row('fliplr', np.fliplr, [[In(2, 3)]], ALL, wrong=[(DimensionError, lambda f: f(zeros(2)))]),
    Row('flipud', np.flipud, [[In(2, 3)]], ALL, wrong=[(DimensionError, lambda f: f(zeros()))]),
    Row('broadcast_to', np.broadcast_to, [[In(3, 1), {'shape': (2, 3, 4)}], [In(), {'shape': (2, 3)}]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(2), (3,))),
               (DimensionError, lambda f: f(zeros(2, 3), (3,))),
               (DimensionError, lambda f: f(zeros(1), (-1,)))]),
    Row('copy', np.copy, [[In(2, 3)]], ALL, bench=[matrix('a.copy()', 'a.clone()', 'a.copy()'), small('a.copy()', 'a.clone()', 'a.copy()')]),
    Row('concatenate', np.concatenate, [[In(2, 3), In(1, 3)], [In(2, 3), In(2, 2), {'axis': 1}]], ALL, call=sequence,
        wrong=[(DimensionError, lambda f: f([zeros(2), zeros(2, 2)])),
               (DimensionError, lambda f: f([zeros(2, 3), zeros(2, 2)])),
               (ChainerxError, lambda f: f([])),
               (DimensionError, lambda f: f([zeros(), zeros()]))],
        bench=[matrix('np.concatenate((a, a))', 'torch.cat((a, a))', 'xp.concatenate((a, a))'),
               matrix('np.concatenate((a, a), 1)', 'torch.cat((a, a), 1)', 'xp.concatenate((a, a), 1)'),
               small('np.concatenate((a, b))', 'torch.cat((a, b))', 'xp.concatenate((a, b))')]),
    Row('stack', np.stack, [[In(2, 3), In(2, 3)], [In(2, 3), In(2, 3), {'axis': -1}]], ALL, call=sequence, wrong=_NO_SEQUENCE, bench=[matrix('xp.stack((a, a), 1)')]),
    Row('hstack', np.hstack, [[In(2, 3), In(2, 1)], [In(3), In(2)]], ALL, call=sequence, wrong=_NO_SEQUENCE),
    Row('vstack', np.vstack, [[In(2, 3), In(1, 3)], [In(3), In(3)]], ALL, call=sequence, wrong=_NO_SEQUENCE),
    Row('dstack', np.dstack, [[In(2, 3, 1), In(2, 3, 2)], [In(3), In(3)]], ALL, call=sequence, wrong=_NO_SEQUENCE),
    Row('atleast_2d', np.atleast_2d, [[In()], [In(3)], [In(2, 3)]], ALL),
    Row('atleast_3d', np.atleast_3d, [[In()], [In(3)], [In(2, 3)]], ALL),
    Row('repeat', np.repeat, [[In(2, 3), {'repeats': 2}], [In(2, 3), {'repeats': 2, 'axis': 1}], [In(2, 3), {'repeats': (1, 2, 0), 'axis': 1}]], ALL,
        wrong=[(ChainerxError, lambda f: f(zeros(2), -1)), (ChainerxError, lambda f: f(zeros(2), (1, 2, 3), 0))]),
    Row('tile', np.tile, [[In(2, 3), {'reps': 2}], [In(2, 3), {'reps': (2, 1, 2)}]], ALL, wrong=[(ChainerxError, lambda f: f(zeros(2), -1))]),
    Row('roll', np.roll, [[In(2, 3), {'shift': 2}], [In(2, 3), {'shift': -1, 'axis': 1}], [In(2, 3), {'shift': (1, 1), 'axis': (0, 1)}]], ALL, allows=['repeated axes']),
    Row('pad', np.pad,
        [[In(2, 3), {'pad_width': 1}], [In(2, 3), {'pad_width': ((1, 0), (2, 3)), 'constant_values': ((1, 2), (3, 4))}],
         [In(2, 3, 2), {'pad_width': (1, 2), 'mode': 'edge'}], [In(0, 2), {'pad_width': 1}],
         [In(3), {'pad_width': 7, 'mode': 'reflect'}], [In(2, 1), {'pad_width': 3, 'mode': 'reflect'}],
         [In(3), {'pad_width': 7, 'mode': 'symmetric'}], [In(2, 3), {'pad_width': 2, 'mode': 'wrap'}],
         [In(), {'pad_width': 2}], [In(2, 3), {'pad_width': 0, 'mode': 'edge'}]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(2), -1)),
               (ValueError, lambda f: f(zeros(2), 1, 'mean')),
               (ValueError, lambda f: f(zeros(2), (1, 2, 3))),
               (ValueError, lambda f: f(zeros(2), 1, constant_values=(1, 2, 3))),
               (TypeError, lambda f: f(zeros(2), 1.5)),
               (DimensionError, lambda f: f(zeros(2, 0), 1, 'edge')),
               (ChainerxError, lambda f: f(zeros(2), 2**62)),
               (ChainerxError, lambda f: f(zeros(2, 2), 2**60))]),
    Row('diag', np.diag, [[In(3)], [In(3), {'k': 1}], [In(2, 3), {'k': -1}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(2, 2, 2))), (DimensionError, lambda f: f(zeros()))]),
    Row('diagonal', np.diagonal, [[In(3, 3)], [In(2, 4), {'offset': 1}], [In(4, 2), {'offset': -2}], [In(2, 3, 4), {'offset': 1, 'axis1': -1, 'axis2': 0}], [In(2, 3), {'offset': 5}], [In(2, 0, 3)]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros(2, 2), 0, 0, 2))]),
    Row('diagflat', np.diagflat, [[In(2, 2)], [In(3), {'k': -1}]], ALL),
    Row('tril', np.tril, [[In(3, 4)], [In(2, 3, 3), {'k': -1}]], ALL, wrong=_NO_MATRIX),
    Row('triu', np.triu, [[In(3, 4)], [In(2, 3, 3), {'k': 1}]], ALL, wrong=_NO_MATRIX),
    Row('split', np.split, [[In(4, 3), {'indices_or_sections': 2}], [In(3, 5), {'indices_or_sections': [1, 4], 'axis': 1}]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(5), 2)),
               (ChainerxError, lambda f: f(zeros(4), 0)),
               (ChainerxError, lambda f: f(zeros(4), -2))]),
    Row('array_split', np.array_split, [[In(5, 3), {'indices_or_sections': 3}], [In(2), {'indices_or_sections': 4}], [In(3, 5), {'indices_or_sections': [1, 4], 'axis': 1}]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(), 2)),
               (ChainerxError, lambda f: f(zeros(4), 0)),
               (ChainerxError, lambda f: f(zeros(4), -2))]),
    Row('vsplit', np.vsplit, [[In(4, 3), {'indices_or_sections': 2}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(4), 2)), (DimensionError, lambda f: f(zeros(3, 2), 2))]),
    Row('hsplit', np.hsplit, [[In(2, 4), {'indices_or_sections': [1]}], [In(4), {'indices_or_sections': 2}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(), 1)), (DimensionError, lambda f: f(zeros(2, 3), 2))]),
    Row('dsplit', np.dsplit, [[In(1, 2, 4), {'indices_or_sections': 2}]], ALL, wrong=[(DimensionError, lambda f: f(zeros(2, 3), 1)), (DimensionError, lambda f: f(zeros(2, 2, 3), 2))]),
    Row('_meshgrid', np.meshgrid, [[In(2), In(3)], [In(2), In(3), In(2), {'indexing': 'ij'}]], ALL, call=_call_meshgrid, allows=['devices'], wrong=[(TypeError, lambda f: f([zeros(2), None]))]),
    Row('copyto', _copyto, [[In(2, 3), In(2, 3)], [In(2, 3), In(3)]], ALL, grad=False, call=_call_copyto,
        wrong=[(DimensionError, lambda f: f(zeros(3), zeros(2))),
               (DtypeError, lambda f: f(zeros(2, dtype='int32'), zeros(2))),
               (ValueError, lambda f: f(zeros(2), zeros(2), 'loosely'))]),
]
