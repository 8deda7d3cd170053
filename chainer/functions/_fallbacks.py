"""What falls back from ChainerX to NumPy or CuPy, and why; all else runs natively.

The documentation lists them from here. The tests compare the lists with what calls do.
"""

#: Arguments that have no native path; all functions have one.
ARGUMENTS = {
    'as_strided': 'arrays that are views of a part of their memory',
    'batch_normalization': 'running statistics that are NumPy arrays, unless they are contiguous '
    'and ``x`` is on ``native:0``',
    'batch_renormalization': 'running statistics that are not ChainerX arrays',
    'cholesky': 'float16',
    'cumprod': 'zeros among the elements',
    'decorrelated_batch_normalization': 'running statistics that are not ChainerX arrays',
    'det': 'float16',
    'einsum': 'operands of different dtypes',
    'get_item': 'a single ``True`` or ``False`` as an index',
    'inv': 'float16',
    'max_pooling_nd': '``return_indices``',
    'pad': 'modes that compute values, such as ``mean``',
    'softmax_cross_entropy': 'no samples',
    'tensordot': 'operands of different dtypes',
}

#: Functions whose native path needs what devices other than CPUs do not have.
CPU_ONLY = {
    'fft': 'complex numbers',
    'ifft': 'complex numbers',
}
