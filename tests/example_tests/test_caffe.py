"""The examples of export to Caffe and of the model zoo."""

import re

import pytest

# The layer of the inputs is there for Caffe only.
pytestmark = pytest.mark.filterwarnings('ignore:Skip the layer "data"')


def test_export_and_evaluate(run_example, tmp_path, device):
    out = run_example('caffe_export/export.py', '-d', device)
    assert float(re.search('largest difference of the outputs: (.*)', out).group(1)) < 1e-5
    assert (tmp_path / 'exported' / 'chainer_model.prototxt').exists()

    output = re.search('output: (.*)', out).group(1)
    run_example('imagenet/make_toy_data.py', '-n', 10, '--size', 40)
    out = run_example(
        'modelzoo/evaluate_caffe_net.py',
        'toy/train.txt',
        'alexnet',
        'exported/chainer_model.caffemodel',
        '-b',
        'toy',
        '-B',
        4,
        '--insize',
        32,
        '--output',
        output,
        '-d',
        device,
    )
    assert 1.4 < float(re.search('mean loss: +(.*)', out).group(1)) < 2.5
    assert 0 <= float(re.search('mean accuracy: +(.*)', out).group(1)) <= 1


@pytest.mark.slow
def test_export_of_the_model_zoo(run_example):
    out = run_example('caffe_export/export.py', '-a', 'resnet50')
    assert float(re.search('largest difference of the outputs: (.*)', out).group(1)) < 1e-4
