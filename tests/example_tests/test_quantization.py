import re

import numpy


def test_loses_little(run_example, tmp_path, device):
    out = run_example('quantization/quantize_digits.py', '-e', 8, '-f', 2, '-u', 8, '-d', device)
    rows = dict(re.findall(r'^(\w[\w, ]*\w) +(\d\.\d+) +\d+$', out, re.M))
    sizes = dict(re.findall(r'^(\w[\w, ]*\w) +\d\.\d+ +(\d+)$', out, re.M))
    assert set(rows) == {
        'float32',
        'int8',
        'int8, entropy',
        'int8 weights',
        'int4 weights',
        'int4 weights, trained',
    }
    accuracies = {name: float(accuracy) for name, accuracy in rows.items()}
    assert accuracies['float32'] > 0.9
    for name in 'int8', 'int8, entropy', 'int8 weights':
        assert abs(accuracies[name] - accuracies['float32']) < 0.009  # three of 360 images
    assert accuracies['int4 weights, trained'] > accuracies['float32'] - 0.03
    assert int(sizes['int8']) < 0.6 * int(sizes['float32'])
    assert re.search(r'^int8, metric: .* before, .* after', out, re.M)
    with numpy.load(tmp_path / 'result' / 'model.npz') as arrays:
        assert arrays['fc1/W_quantized'].dtype == numpy.int8
