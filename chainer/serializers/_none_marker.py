"""The stored form of ``None`` in npz files, recognized without unpickling.

Chainer writes ``None`` as ``numpy.asarray(None)``, a 0-dimensional object
array, which NumPy stores as a pickle. Loading accepts only this pickle and
never executes it: it compares the list of opcodes.
"""

import pickletools
from typing import Any

# The opcodes of this pickle, for every version of Python, NumPy and pickle,
# after resolving memos and unifying equivalent opcodes.
_OPCODES = [
    ('GLOBAL', 'numpy.core.multiarray _reconstruct'),
    ('GLOBAL', 'numpy ndarray'),
    0,
    'TUPLE',
    'b',
    'TUPLE',
    'REDUCE',
    1,
    'TUPLE',
    ('GLOBAL', 'numpy dtype'),
    'O8',
    0,
    1,
    'TUPLE',
    'REDUCE',
    3,
    '|',
    None,
    None,
    None,
    -1,
    -1,
    63,
    'TUPLE',
    'BUILD',
    0,
    'EMPTY_LIST',
    None,
    'APPEND',
    'TUPLE',
    'BUILD',
    'STOP',
]

_TUPLES = {'EMPTY_TUPLE', 'TUPLE', 'TUPLE1', 'TUPLE2', 'TUPLE3'}
_NO_EFFECT = {'PROTO', 'FRAME', 'MARK'}
_CONSTANTS = {'NONE': None, 'NEWTRUE': 1, 'NEWFALSE': 0}

# The form to write, readable by every Python 3 and NumPy.
MARKER = (
    b'\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85'
    b'c_codecs\nencode\nX\x01\x00\x00\x00bX\x06\x00\x00\x00latin1\x86R\x87R'
    b'(K\x01)cnumpy\ndtype\nX\x02\x00\x00\x00O8K\x00K\x01\x87R'
    b'(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89]Natb.'
)


def is_none_marker(pickled):
    """Returns whether a byte string is the pickle of ``numpy.asarray(None)``."""
    if pickled == MARKER:
        return True
    if len(pickled) > 1000:
        return False
    try:
        opcodes = list(pickletools.genops(pickled))
        # Reject data after the end of the pickle.
        return opcodes[-1][2] == len(pickled) - 1 and _normalize(opcodes) == _OPCODES
    except (ValueError, KeyError, IndexError, UnicodeDecodeError):
        return False


def _normalize(opcodes):
    out: list[Any] = []
    memo: dict[int, Any] = {}
    for opcode, arg, _ in opcodes:
        name = opcode.name
        if name in _NO_EFFECT:
            continue
        if name == 'MEMOIZE':
            memo[len(memo)] = out[-1]
        elif 'PUT' in name:
            memo[int(arg)] = out[-1]
        elif 'GET' in name:
            out.append(memo[int(arg)])
        elif name == 'STACK_GLOBAL':
            out[-2:] = [('GLOBAL', f'{out[-2]} {out[-1]}')]
        elif name == 'GLOBAL':
            out.append(('GLOBAL', arg))
        elif name in _TUPLES:
            out.append('TUPLE')
        elif name in _CONSTANTS:
            out.append(_CONSTANTS[name])
        elif arg is None:
            out.append(name)
        else:
            out.append(arg.decode('latin1') if isinstance(arg, bytes) else arg)
        if out[-1:] == [('GLOBAL', 'numpy._core.multiarray _reconstruct')]:
            out[-1] = _OPCODES[0]
        # Protocol 2 under Python 3 spells the byte string b'b' as a call.
        if out[-5:] == [('GLOBAL', '_codecs encode'), 'b', 'latin1', 'TUPLE', 'REDUCE']:
            out[-5:] = ['b']
    return out
