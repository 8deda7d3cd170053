from PIL import Image

OPTIONS = ('--size', 32, '-u', 8, '--n-train', 8, '--snapshot_interval', 8, '--display_interval', 8)


def test_train_and_resume(run_example, read_log, tmp_path, device):
    run_example('pix2pix/make_toy_data.py', '-n', 10, '--size', 32)
    run_example('pix2pix/train_facade.py', *OPTIONS, '-e', 2, '-d', device)
    log = read_log()
    assert log[1]['enc/loss_enc'] < log[0]['enc/loss_enc']
    with Image.open(tmp_path / 'result' / 'preview' / 'image_00000016.png') as picture:
        assert picture.size == (3 * 32, 5 * 32)
    run_example(
        'pix2pix/train_facade.py',
        *OPTIONS,
        '-e',
        3,
        '-d',
        device,
        '-r',
        'result/snapshot_iter_16.npz',
    )
    assert [entry['epoch'] for entry in read_log()] == [1, 2, 3]
