"""Sound processing: reading and writing files, companding, spectrograms."""

import wave

import numpy as np

RATE = 16000  # samples per second
HOP = 256  # samples between the columns of spectrograms
N_FFT = 1024
N_MELS = 80


def read(path):
    """Reads a file of 16 bit samples as float32 between -1 and 1, at the rate of this example."""
    with wave.open(path, 'rb') as f:
        rate, channels, width = f.getframerate(), f.getnchannels(), f.getsampwidth()
        if width != 2 or rate % RATE != 0:
            raise ValueError(
                f'{path} must have 16 bit samples and a sample rate that is a multiple of '
                f'{RATE}, but has {8 * width} bit and {rate}'
            )
        x = np.frombuffer(f.readframes(f.getnframes()), '<i2').astype(np.float32) / 32768
    x = x.reshape(-1, channels).mean(axis=1)
    ratio = rate // RATE
    return x[: len(x) // ratio * ratio].reshape(-1, ratio).mean(axis=1)


def write(path, x):
    with wave.open(path, 'wb') as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(RATE)
        f.writeframes((np.clip(x, -1, 1) * 32767).astype('<i2').tobytes())


class MuLaw:
    """Mu-law quantization of samples, finer for small ones (ITU-T G.711).

    Args:
        n (int): Number of quantization levels.

    """

    def __init__(self, n=256):
        self.n = n

    def encode(self, x):
        y = np.sign(x) * np.log1p((self.n - 1) * np.abs(x)) / np.log(self.n)
        return np.clip((y + 1) / 2 * self.n, 0, self.n - 1).astype(np.int32)

    def decode(self, i):
        y = 2 * (np.asarray(i) + 0.5) / self.n - 1
        return (np.sign(y) * (self.n ** np.abs(y) - 1) / (self.n - 1)).astype(np.float32)


def mel_filters():
    """Returns the weights of frequencies in mel bands, ``(N_MELS, N_FFT // 2 + 1)``."""

    def to_mel(f):
        return 2595 * np.log10(1 + f / 700)

    edges = np.linspace(0, to_mel(RATE / 2), N_MELS + 2)
    mel = to_mel(np.linspace(0, RATE / 2, N_FFT // 2 + 1))
    rising = (mel - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - mel) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rising, falling))


def spectrogram(x):
    """Returns the log power by band and time, ``(N_MELS, len(x) // HOP)``."""
    n_frames = len(x) // HOP
    padded = np.pad(x, N_FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP][:n_frames]
    power = np.abs(np.fft.rfft(frames * np.hanning(N_FFT), axis=1)) ** 2
    return np.log10(np.maximum(mel_filters() @ power.T, 1e-5)).astype(np.float32)
