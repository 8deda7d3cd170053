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


def test_a_language_model_loses_little(run_example, tmp_path, device):
    (tmp_path / 'text.txt').write_text('the quick brown fox jumps over the lazy dog. ' * 100)
    out = run_example(
        'quantization/quantize_text.py', '-t', 'text.txt', '-e', 2, '-u', 24, '-b', 8, '-d', device
    )
    rows = re.findall(r'^(\w+(?: \w+)?) +perplexity +([\d.]+) \(([+-][\d.]+) %\)$', out, re.M)
    names, values, changes = zip(*rows)
    assert names == ('float32', 'int8', 'int8 weights', 'int4 weights')
    assert float(values[0]) < 20  # of 28 characters
    assert changes[0] == '+0.00' and 0 < abs(float(changes[3])) < 3
    assert max(abs(float(change)) for change in changes[1:3]) < 1
