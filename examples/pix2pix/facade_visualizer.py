import os

import numpy as np

import chainer

COLOURS = np.array(
    [
        [0, 0, 170],
        [0, 0, 255],
        [0, 85, 255],
        [0, 170, 255],
        [0, 255, 255],
        [85, 255, 170],
        [170, 255, 85],
        [255, 255, 0],
        [255, 170, 0],
        [255, 85, 0],
        [255, 0, 0],
        [170, 0, 0],
    ],
    np.uint8,
)


def out_image(updater, enc, dec, n_images, seed, folder):
    """Makes an extension that saves rows of labels, real images and generated images."""

    @chainer.training.make_extension()
    def make_image(trainer):
        from PIL import Image

        state = np.random.get_state()
        np.random.seed(seed)
        dataset = updater.get_iterator('test').dataset
        indices = np.random.randint(len(dataset), size=n_images)
        x_in, t_out = chainer.dataset.concat_examples([dataset[int(i)] for i in indices])
        np.random.set_state(state)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            x_out = dec(enc(updater.device.send(x_in))).array
        x_out = chainer.get_device('@numpy').send(x_out)

        columns = [COLOURS[x_in.argmax(axis=1)]] + [
            ((x.clip(-1, 1) + 1) * 127.5).astype(np.uint8).transpose(0, 2, 3, 1)
            for x in (t_out, x_out)
        ]
        picture = np.concatenate([np.concatenate(rows, axis=1) for rows in zip(*columns)])
        preview = os.path.join(folder, 'preview')
        os.makedirs(preview, exist_ok=True)
        Image.fromarray(picture).save(
            os.path.join(preview, f'image_{trainer.updater.iteration:0>8}.png')
        )

    return make_image
