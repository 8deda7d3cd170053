import numpy
import pytest
from PIL import Image

OPTIONS = ('-b', 20, '-u', 16, '-n', 10, '--snapshot_interval', 1, '--display_interval', 1)


@pytest.fixture
def images(tmp_path):
    (tmp_path / 'images').mkdir()
    for i in range(20):
        image = numpy.random.randint(0, 256, (32, 32, 3)).astype(numpy.uint8)
        Image.fromarray(image).save(tmp_path / 'images' / (f'{i}.png'))


def test_train_and_resume(run_example, read_log, tmp_path, images, device):
    out = run_example('dcgan/train_dcgan.py', *OPTIONS, '-i', 'images', '-e', 1, '-d', device)
    assert 'contains 20 image files' in out
    with Image.open(tmp_path / 'result' / 'preview' / 'image00000001.png') as picture:
        assert picture.size == (320, 320)
    run_example(
        'dcgan/train_dcgan.py',
        *OPTIONS,
        '-i',
        'images',
        '-e',
        2,
        '-d',
        device,
        '-r',
        'result/snapshot_iter_1.npz',
    )
    assert [entry['iteration'] for entry in read_log()] == [1, 2]


@pytest.mark.slow
def test_learns(run_example, read_log):
    """The discriminator, which begins with the loss of a guess (1.39), learns at once."""
    options = *OPTIONS[:-4], '--snapshot_interval', 100, '--display_interval', 20
    run_example('dcgan/train_dcgan.py', *options, '-i', 'digits', '-e', 1)
    log = read_log()
    assert log[-1]['dis/loss'] < 0.8 * log[0]['dis/loss']
