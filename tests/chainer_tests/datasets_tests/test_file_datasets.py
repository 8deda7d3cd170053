"""Datasets that read files: texts, pickles and images."""

import io
import multiprocessing
import os
import pickle
import zipfile

import numpy
import pytest
from helpers.memory import little_memory

from chainer import datasets, links


class TestTextDataset:
    @pytest.fixture
    def paths(self, tmp_path):
        (tmp_path / 'a').write_text('a0\na1 ä\n\na3', encoding='utf-8')
        (tmp_path / 'b').write_text('b0\nb1\nb2\nb3\n', encoding='utf-8')
        (tmp_path / 'c').write_text('c0\n', encoding='utf-8')
        return [str(tmp_path / name) for name in 'abc']

    def test_one_file(self, paths):
        dataset = datasets.TextDataset(paths[0], encoding='utf-8')
        assert len(dataset) == 4
        assert dataset[3] == 'a3'
        assert dataset[:] == ['a0\n', 'a1 ä\n', '\n', 'a3']
        dataset.close()
        with pytest.raises(ValueError):
            dataset[0]

    def test_parallel_files(self, paths):
        dataset = datasets.TextDataset(paths[:2], encoding='utf-8')
        assert dataset[1] == ('a1 ä\n', 'b1\n')
        dataset.close()

    def test_filter(self, paths):
        dataset = datasets.TextDataset(
            paths[:2], encoding='utf-8', filter_func=lambda a, b: a != '\n' and b != 'b0\n'
        )
        assert [b for _, b in dataset[:]] == ['b1\n', 'b3\n']
        dataset.close()

    def test_errors(self, paths):
        with pytest.raises(ValueError, match='lines in files does not match'):
            datasets.TextDataset([paths[0], paths[2]], encoding='utf-8')
        with pytest.raises(ValueError, match='At least one'):
            datasets.TextDataset([])
        with pytest.raises(TypeError, match='paths'):
            datasets.TextDataset(3)
        with pytest.raises(ValueError, match='encoding'):
            datasets.TextDataset(paths[:1], encoding=['utf-8', 'utf-8'])
        dataset = datasets.TextDataset(paths[2])
        for i in -1, 1:
            with pytest.raises(IndexError):
                dataset[i]
        dataset.close()

    def test_pickle(self, paths):
        dataset = datasets.TextDataset(paths[1])
        copy = pickle.loads(pickle.dumps(dataset))
        dataset.close()
        assert copy[2] == 'b2\n'
        copy.close()


class TestPickleDataset:
    @pytest.fixture
    def path(self, tmp_path):
        path = str(tmp_path / 'data.pkl')
        with datasets.open_pickle_dataset_writer(path) as writer:
            writer.write('x')
            writer.write({'a': numpy.arange(3)})
            writer.flush()
            writer.write(None)
        return path

    def test_get(self, path):
        with datasets.open_pickle_dataset(path) as dataset:
            assert len(dataset) == 3
            assert dataset[2] is None
            numpy.testing.assert_array_equal(dataset[1]['a'], numpy.arange(3))
            assert dataset[0] == 'x'
            with pytest.raises(IndexError):
                dataset[3]

    def test_file_object(self):
        f = io.BytesIO()
        writer = datasets.PickleDatasetWriter(f, protocol=2)
        writer.write(1)
        writer.write(['x'])
        writer.flush()
        # The file contains the pickles and nothing else.
        assert f.getvalue() == pickle.dumps(1, 2) + pickle.dumps(['x'], 2)
        dataset = datasets.PickleDataset(f)
        assert dataset[:] == [1, ['x']]
        assert dataset[-1] == ['x']
        dataset.close()
        assert f.closed
        with pytest.raises(ValueError, match='closed'):
            dataset[0]

    def test_closed_writer(self, tmp_path):
        f = open(tmp_path / 'f', 'wb')
        with datasets.PickleDatasetWriter(f) as writer:
            writer.write(1)
        assert f.closed
        with pytest.raises(ValueError, match='closed'):
            writer.write(2)
        writer.close()

    @pytest.mark.parametrize('protocol', range(pickle.HIGHEST_PROTOCOL + 1))
    def test_protocols(self, tmp_path, protocol):
        path = str(tmp_path / 'f')
        examples = ['text', {'a': 1}, numpy.arange(1000), list(range(10000)), None, (None, True)]
        with datasets.open_pickle_dataset_writer(path, protocol) as writer:
            for example in examples:
                writer.write(example)
        with datasets.open_pickle_dataset(path) as dataset:
            assert len(dataset) == 6
            for i in 5, 3, 2, 4, 0, 1:
                numpy.testing.assert_equal(dataset[i], examples[i])

    def test_empty(self):
        assert len(datasets.PickleDataset(io.BytesIO())) == 0

    def test_pickle(self, path):
        with datasets.open_pickle_dataset(path) as dataset:
            with pickle.loads(pickle.dumps(dataset)) as copy:
                assert copy[0] == dataset[0] == 'x'

    def test_fork(self, path):
        with datasets.open_pickle_dataset(path) as dataset:
            assert dataset[0] == 'x'
            try:
                with multiprocessing.get_context('spawn').Pool(1) as pool:
                    assert pool.map(dataset.__getitem__, [0, 2]) == ['x', None]
            finally:
                # It makes Python's default the choice of the program, that is of later tests.
                multiprocessing.set_start_method(None, force=True)

    @pytest.mark.parametrize(
        'content,position',
        [
            (b'\xff' * 40, 0),
            (pickle.dumps(1) + b'xyz', 5),
            (pickle.dumps(1) * 2 + b'\x80', 10),
            (b'cno_module\nf\n.', 0),
            (b']K\0s.', 0),
        ],
    )
    def test_broken(self, content, position):
        with pytest.raises(ValueError, match=f'no complete pickle at byte {position}:'):
            datasets.PickleDataset(io.BytesIO(content))


class TestImageDatasets:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path):
        image = pytest.importorskip('PIL.Image')
        rng = numpy.random.RandomState(0)
        self.root = tmp_path
        self.arrays = {}
        for name, shape in (('rgb.png', (4, 5, 3)), ('gray.png', (3, 2))):
            array = rng.randint(0, 256, shape, numpy.uint8)
            image.fromarray(array).save(tmp_path / name)
            self.arrays[name] = (
                array.transpose(2, 0, 1) if len(shape) == 3 else array[None]
            ).astype('f')
        (tmp_path / 'list.txt').write_text('rgb.png\ngray.png\n')
        (tmp_path / 'pairs.txt').write_text('rgb.png 3\ngray.png 0\n')
        with zipfile.ZipFile(tmp_path / 'images.zip', 'w') as zf:
            zf.writestr('folder/', '')
            for name in self.arrays:
                zf.write(tmp_path / name, name)

    def check(self, image, name, dtype='f'):
        assert image.dtype == dtype
        numpy.testing.assert_array_equal(image, self.arrays[name])

    def test_images(self):
        for paths in ['rgb.png', 'gray.png'], str(self.root / 'list.txt'):
            dataset = datasets.ImageDataset(paths, root=str(self.root), dtype='d')
            assert len(dataset) == 2
            self.check(dataset[0], 'rgb.png', 'd')
            self.check(dataset[1], 'gray.png', 'd')

    def test_labeled(self):
        for pairs in [('rgb.png', 3), ('gray.png', 0)], str(self.root / 'pairs.txt'):
            dataset = datasets.LabeledImageDataset(pairs, root=str(self.root))
            assert len(dataset) == 2
            image, label = dataset[0]
            self.check(image, 'rgb.png')
            assert label == 3 and label.dtype == numpy.int32 and label.shape == ()

    def test_zipped(self):
        dataset = datasets.ZippedImageDataset(str(self.root / 'images.zip'))
        for ds in dataset, pickle.loads(pickle.dumps(dataset)):
            assert len(ds) == 2
            self.check(ds[1], 'gray.png')
            self.check(ds.get_example('rgb.png'), 'rgb.png')
            ds._zf.close()

    def test_multi_zipped(self):
        path = str(self.root / 'images.zip')
        dataset = datasets.MultiZippedImageDataset([path, path])
        assert len(dataset) == 4
        for i, name in enumerate(['rgb.png', 'gray.png'] * 2):
            self.check(dataset[i], name)
        self.check(dataset[-1], 'gray.png')
        with pytest.raises(IndexError):
            dataset[4]
        for zf in dataset._zfs:
            zf._zf.close()

    def test_labeled_zipped(self):
        dataset = datasets.LabeledZippedImageDataset(
            str(self.root / 'images.zip'), str(self.root / 'pairs.txt'), label_dtype='i8'
        )
        assert len(dataset) == 2
        image, label = dataset[0]
        self.check(image, 'rgb.png')
        assert label == 3 and label.dtype == numpy.int64
        dataset._zf._zf.close()

    @pytest.mark.parametrize('line', ['gray.png', 'gray.png 1 2', 'gray.png x', 'gray.png 1.5'])
    def test_invalid_pairs(self, line):
        (self.root / 'pairs.txt').write_text(f'rgb.png 3\n{line}\n')
        with pytest.raises(ValueError, match='invalid format at line 1 in file .*pairs.txt'):
            datasets.LabeledImageDataset(str(self.root / 'pairs.txt'))

    @pytest.mark.parametrize(
        'compression,size', [(zipfile.ZIP_DEFLATED, 1 << 27), (zipfile.ZIP_BZIP2, 1 << 24)]
    )
    def test_zip_bomb(self, compression, size):
        path = str(self.root / 'bomb.zip')
        with zipfile.ZipFile(path, 'w', compression) as zf, zf.open('bomb.bmp', 'w') as member:
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))
            member.close()
            zf.write(self.root / 'rgb.png', 'rgb.png', zipfile.ZIP_DEFLATED)
        dataset = datasets.ZippedImageDataset(path)
        with little_memory(), pytest.raises(ValueError, match='bomb.bmp'):
            dataset[0]
        self.check(dataset[1], 'rgb.png')
        dataset._zf.close()

    def test_damaged(self):
        content = bytearray((self.root / 'images.zip').read_bytes())
        content[content.index(b'IDAT') + 20] ^= 1
        path = self.root / 'damaged.zip'
        path.write_bytes(content)
        dataset = datasets.ZippedImageDataset(str(path))
        for error in ValueError, OSError, zipfile.BadZipFile:
            with pytest.raises(error, match='damaged.zip.*CRC'):
                dataset[0]
        self.check(dataset[1], 'gray.png')
        with pytest.raises(KeyError):
            dataset.get_example('missing.png')
        dataset._zf.close()
        path.write_bytes(content[:-30])
        with pytest.raises(zipfile.BadZipFile, match='damaged.zip'):
            datasets.ZippedImageDataset(str(path))
        (self.root / 'rgb.png').write_bytes(b'hello')
        with pytest.raises(OSError):
            datasets.ImageDataset(['rgb.png'], root=str(self.root))[0]

    def test_too_many_pixels(self, monkeypatch):
        from PIL import Image

        monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 9)
        with pytest.raises(Image.DecompressionBombError):
            datasets.ImageDataset(['rgb.png'], root=str(self.root))[0]


@pytest.mark.parametrize(
    'use',
    [
        datasets.open_pickle_dataset,
        datasets.open_pickle_dataset_writer,
        datasets.TextDataset,
        datasets.ZippedImageDataset,
        lambda number: datasets.LabeledZippedImageDataset('images.zip', number),
        lambda number: datasets.MultiZippedImageDataset(numpy.array([number])),
        links.caffe.CaffeFunction,
    ],
)
def test_numbers_are_no_paths(use, tmp_path):
    """A descriptor would be closed with the dataset, though it belongs to another file."""
    with open(tmp_path / 'file', 'w') as f:
        with pytest.raises(TypeError, match='int'):
            use(f.fileno())
        os.fstat(f.fileno())
