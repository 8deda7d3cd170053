import numpy as np
from data import BOS, EOS

import chainer
import chainer.functions as F
import chainer.links as L


class VGG16Features(chainer.Chain):
    """The last hidden layer of VGG16, with pretrained weights from the caffemodel file."""

    size = 224

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.vgg = L.VGG16Layers()
        self.disable_update()

    def forward(self, x):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            return self.vgg(x, layers=['fc7'])['fc7'].array


class SmallFeatures(chainer.Chain):
    """Two convolutions, trained together with the LSTM."""

    size = 32

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 8, 5, stride=2, pad=2)
            self.conv2 = L.Convolution2D(8, 16, 5, stride=2, pad=2)

    def forward(self, x):
        h = F.relu(self.conv1(x / 128))
        return F.reshape(F.relu(self.conv2(h)), (len(x), -1))


FEATURES = {'vgg16': VGG16Features, 'small': SmallFeatures}


class ImageCaptionModel(chainer.Chain):
    """An LSTM that reads the features of an image and then writes the caption.

    Source: O. Vinyals et al., Show and Tell: A Neural Image Caption Generator, 2015.

    Args:
        n_vocab (int): Number of words.
        features (str): ``'vgg16'`` or ``'small'``.
        rnn (str): ``'nsteplstm'`` for one call per batch, ``'lstm'`` for one per word.
        dropout_ratio (float): Dropout ratio.
        n_units (int): Number of units.

    """

    def __init__(self, n_vocab, features='vgg16', rnn='nsteplstm', dropout_ratio=0.5, n_units=512):
        super().__init__()
        self.rnn = rnn
        self.dropout_ratio = dropout_ratio
        with self.init_scope():
            self.features = FEATURES[features]()
            self.embed_image = L.Linear(None, n_units)
            self.embed_word = L.EmbedID(
                n_vocab, n_units, initialW=chainer.initializers.Normal(1.0), ignore_label=-1
            )
            if rnn == 'nsteplstm':
                self.lstm = L.NStepLSTM(1, n_units, n_units, dropout_ratio)
            else:
                self.lstm = L.LSTM(n_units, n_units)
            self.decode = L.Linear(n_units, n_vocab)

    def start(self, x):
        """Feeds images to the LSTM and returns its state."""
        h = F.dropout(self.embed_image(self.features(x)), self.dropout_ratio)
        return self.read(None, [h])[0]

    def read(self, state, hs):
        """Feeds a list of batches to the LSTM and returns its state and outputs."""
        if self.rnn == 'nsteplstm':
            h, c = (None, None) if state is None else state
            xs = [x for x in F.stack(hs, axis=1)]
            h, c, ys = self.lstm(h, c, xs)
            return (h, c), F.separate(F.stack(ys), axis=1)
        if state is None:
            self.lstm.reset_state()
        return True, [self.lstm(h) for h in hs]

    def forward(self, x, captions):
        """Returns the loss for images and captions padded with -1."""
        words = [captions[:, i] for i in range(captions.shape[1])]
        hs = [F.dropout(self.embed_word(word), self.dropout_ratio) for word in words[:-1]]
        _, ys = self.read(self.start(x), hs)
        y = self.decode(F.dropout(F.concat(ys, axis=0), self.dropout_ratio))
        loss = F.softmax_cross_entropy(y, F.concat(words[1:], axis=0))
        chainer.report({'loss': loss, 'perplexity': self.xp.exp(loss.array)}, self)
        return loss

    def predict(self, x, max_caption_length=30):
        """Returns the most probable words of each image, as lists of IDs."""
        send_back = chainer.get_device('@numpy').send
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            state = self.start(x)
            word = np.full(len(x), BOS, np.int32)
            captions = []
            for _ in range(max_caption_length):
                state, (y,) = self.read(state, [self.embed_word(self.device.send(word))])
                word = send_back(self.decode(y).array).argmax(axis=1).astype(np.int32)
                captions.append(word)
        return [
            ids[: ids.index(EOS)] if EOS in ids else ids
            for ids in np.stack(captions, axis=1).tolist()
        ]
