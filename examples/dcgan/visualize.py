import os

import numpy as np

import chainer


def out_generated_image(gen, rows, cols, seed, folder):
    """Makes an extension that saves images generated from the same random vectors each time."""

    @chainer.training.make_extension()
    def make_image(trainer):
        from PIL import Image

        state = np.random.get_state()
        np.random.seed(seed)
        z = gen.device.send(gen.make_hidden(rows * cols))
        np.random.set_state(state)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            x = chainer.get_device('@numpy').send(gen(z).array)

        _, channels, height, width = x.shape
        x = (x * 255).clip(0, 255).astype(np.uint8)
        x = x.reshape(rows, cols, channels, height, width).transpose(0, 3, 1, 4, 2)
        x = x.reshape(rows * height, cols * width, channels)
        preview = os.path.join(folder, 'preview')
        os.makedirs(preview, exist_ok=True)
        Image.fromarray(x if channels == 3 else x[:, :, 0]).save(
            os.path.join(preview, f'image{trainer.updater.iteration:0>8}.png')
        )

    return make_image
