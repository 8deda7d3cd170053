import hashlib
import http.client
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pytest

from chainer import dataset

CONTENT = bytes(range(256)) * 1000
SHA256 = 'sha256:' + hashlib.sha256(CONTENT).hexdigest()
MD5 = 'md5:' + hashlib.md5(CONTENT).hexdigest()
WRONG = 'sha256:' + '0' * 64


def _read(path):
    with open(path) as f:
        return f.read()


def _read_bytes(path):
    with open(path, 'rb') as f:
        return f.read()


def _write(path, content='content'):
    with open(path, 'w') as f:
        f.write(content)


def _name(url):
    return hashlib.md5(url.encode()).hexdigest()


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    old = dataset.get_dataset_root()
    dataset.set_dataset_root(str(tmp_path / 'root'))
    monkeypatch.delenv('CHAINER_DOWNLOAD_TIMEOUT', raising=False)
    yield str(tmp_path / 'root')
    dataset.set_dataset_root(old)


@pytest.fixture
def cache(root):
    return os.path.join(root, '_dl_cache')


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        self.server.replies[self.path](self)

    def start(self, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), str(value))
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    """HTTP server on this machine; ``replies`` has a function of the handler for each path."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
    server.url = f'http://127.0.0.1:{server.server_port}'
    server.requests = []
    server.closing = threading.Event()
    server.replies = {
        '/whole': _whole,
        '/no_length': _no_length,
        '/short': _short,
        '/chunked': lambda handler: _chunked(handler, end=True),
        '/short_chunks': lambda handler: _chunked(handler, end=False),
        '/missing': lambda handler: handler.send_error(404),
        '/no_reply': lambda handler: server.closing.wait(30),
        '/hanging': _hanging,
    }
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


def _whole(handler):
    handler.start(Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT)


def _no_length(handler):
    handler.start()
    handler.wfile.write(CONTENT)


def _short(handler):
    handler.start(Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:1000])


def _chunked(handler, end):
    handler.start(Transfer_Encoding='chunked')
    handler.wfile.write(b'%x\r\n%b\r\n' % (len(CONTENT), CONTENT))
    if end:
        handler.wfile.write(b'0\r\n\r\n')


def _hanging(handler):
    handler.start(Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:1000])
    handler.wfile.flush()
    handler.server.closing.wait(30)


def test_directory(root):
    path = dataset.get_dataset_directory('a/b', create_directory=False)
    assert path == os.path.join(root, 'a/b') and not os.path.exists(path)
    dataset.get_dataset_directory('a/b')
    assert os.path.isdir(path)


class TestDownload:
    def test_once(self, cache, server, capsys):
        url = server.url + '/whole'
        path = dataset.cached_download(url)
        assert path == os.path.join(cache, _name(url))
        assert _read_bytes(path) == CONTENT
        assert dataset.cached_download(url) == path
        assert server.requests == ['/whole']
        assert capsys.readouterr().out == f'Downloading from {url}...\n'

    def test_file(self, tmp_path):
        (tmp_path / 'source').write_text('content')
        path = dataset.cached_download((tmp_path / 'source').as_uri())
        assert _read(path) == 'content'

    @pytest.mark.parametrize('reply', ['/whole', '/no_length', '/chunked'])
    @pytest.mark.parametrize('checksum', [SHA256, SHA256.upper(), MD5])
    def test_known_content(self, server, reply, checksum):
        path = dataset.cached_download(server.url + reply, checksum=checksum)
        assert _read_bytes(path) == CONTENT

    def test_chunks_need_no_length(self, server):
        assert _read_bytes(dataset.cached_download(server.url + '/chunked')) == CONTENT

    def test_no_length_gives_warning(self, server):
        with pytest.warns(RuntimeWarning, match='has no length.*256000 bytes') as record:
            path = dataset.cached_download(server.url + '/no_length')
        assert record[0].filename == __file__
        assert _read_bytes(path) == CONTENT

    @pytest.mark.parametrize(
        'reply,kwargs,message',
        [
            ('/short', {}, 'received 1000 of 256000 bytes'),
            ('/short', {'checksum': SHA256}, 'received 1000 of 256000 bytes'),
            ('/short_chunks', {}, 'IncompleteRead'),
            ('/whole', {'checksum': WRONG}, f'sha256 is {SHA256[7:]}, but {"0" * 64} was expected'),
            ('/no_length', {'checksum': WRONG}, f'is {SHA256[7:]}, but {"0" * 64} was expected'),
            ('/missing', {}, '404'),
            ('/no_reply', {'timeout': 0.1}, 'timed out'),
            ('/hanging', {'timeout': 0.1}, 'timed out'),
        ],
    )
    def test_failure_leaves_nothing(self, cache, server, reply, kwargs, message):
        url = server.url + reply
        with pytest.raises(urllib.error.URLError) as e:
            dataset.cached_download(url, **kwargs)
        assert f'could not download {url} (' in str(e.value)
        assert message in str(e.value)
        assert f'put the file at {os.path.join(cache, _name(url))}' in str(e.value)
        assert os.listdir(cache) == []

    def test_next_try(self, server):
        url = server.url + '/file'
        server.replies['/file'] = _short
        with pytest.raises(urllib.error.URLError):
            dataset.cached_download(url)
        server.replies['/file'] = _whole
        assert _read_bytes(dataset.cached_download(url)) == CONTENT

    def test_interrupt_leaves_nothing(self, cache, server, monkeypatch):
        def interrupt(source, target):
            target.write(source.read(1000))
            raise KeyboardInterrupt

        monkeypatch.setattr(shutil, 'copyfileobj', interrupt)
        with pytest.raises(KeyboardInterrupt):
            dataset.cached_download(server.url + '/whole')
        assert os.listdir(cache) == []

    @pytest.mark.parametrize('timeout', [0, -1, 'soon', float('nan'), float('inf')])
    def test_invalid_timeout(self, root, timeout, monkeypatch):
        with pytest.raises(ValueError, match='timeout must be a positive number of seconds'):
            dataset.cached_download('http://127.0.0.1:9/', timeout=timeout)
        monkeypatch.setenv('CHAINER_DOWNLOAD_TIMEOUT', str(timeout))
        with pytest.raises(ValueError, match='variable CHAINER_DOWNLOAD_TIMEOUT must be a pos'):
            dataset.cached_download('http://127.0.0.1:9/')
        assert not os.path.exists(root)

    @pytest.mark.parametrize(
        'checksum',
        ['', '0' * 64, 'sha256:', 'sha256:12', 'sha256:' + 'g' * 64, 'sum:12', 'shake_128:'],
    )
    def test_invalid_checksum(self, root, checksum):
        with pytest.raises(ValueError, match='checksum must be the name of a hash function'):
            dataset.cached_download('http://127.0.0.1:9/', checksum=checksum)
        assert not os.path.exists(root)

    @pytest.mark.parametrize(
        'variable,argument,expected', [('', None, 60), ('7.5', None, 7.5), ('7.5', 3, 3)]
    )
    def test_timeout(self, server, monkeypatch, variable, argument, expected):
        monkeypatch.setenv('CHAINER_DOWNLOAD_TIMEOUT', variable)
        timeouts = []
        original = urllib.request.urlopen

        def urlopen(request, timeout):
            timeouts.append(timeout)
            return original(request, timeout=timeout)

        monkeypatch.setattr(urllib.request, 'urlopen', urlopen)
        dataset.cached_download(server.url + '/whole', timeout=argument)
        assert timeouts == [expected]

    def test_no_cache_folder(self, root):
        _write(root)
        with pytest.raises(OSError, match='cannot create the download cache'):
            dataset.cached_download('https://example.com/')
        with pytest.raises(RuntimeError, match='cannot create the dataset folder'):
            dataset.cache_or_load_file(os.path.join(root, 'x', 'y'), None, None)


class TestCachedFile:
    """Files that Chainer 7, another process or the user put into the cache."""

    URL = 'http://127.0.0.1:9/file'  # never asked

    @pytest.fixture
    def path(self, cache):
        os.makedirs(cache)
        path = os.path.join(cache, _name(self.URL))
        with open(path, 'wb') as f:
            f.write(CONTENT)
        return path

    @pytest.mark.parametrize('checksum', [None, SHA256, MD5])
    def test_found(self, path, checksum):
        assert dataset.cached_download(self.URL, checksum=checksum) == path
        assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]

    def test_wrong_content(self, path):
        with pytest.raises(urllib.error.URLError) as e:
            dataset.cached_download(self.URL, checksum=WRONG)
        for text in self.URL, path, SHA256[7:], '0' * 64, 'delete it':
            assert text in str(e.value)
        assert _read_bytes(path) == CONTENT


class _PlainHTTPS(urllib.request.HTTPSHandler):
    """Speaks plain HTTP where the address says https."""

    def https_open(self, request):
        return self.do_open(http.client.HTTPConnection, request)


class TestRedirections:
    @pytest.fixture(autouse=True)
    def opener(self):
        # Programs set proxies and headers in this way.
        urllib.request.install_opener(urllib.request.build_opener(_PlainHTTPS))
        yield
        urllib.request.install_opener(None)

    @pytest.mark.parametrize(
        'schemes,refused',
        [
            (['http', 'http'], False),
            (['http', 'https'], False),
            (['https', 'https'], False),
            (['https', 'http'], True),
            (['https', 'https', 'http'], True),
            (['https', 'http', 'https'], True),
        ],
    )
    def test_no_way_out_of_https(self, server, cache, schemes, refused):
        host = server.url.split('//')[1]
        urls = [f'{scheme}://{host}/{i}' for i, scheme in enumerate(schemes)]
        for i, url in enumerate(urls[1:]):
            server.replies[f'/{i}'] = lambda handler, url=url: handler.start(302, Location=url)
        server.replies[f'/{len(urls) - 1}'] = _whole
        if not refused:
            assert _read_bytes(dataset.cached_download(urls[0])) == CONTENT
            return
        plain = next(url for url in urls if url.startswith('http:'))
        with pytest.raises(urllib.error.URLError, match=f'refused the redirection .* to {plain}'):
            dataset.cached_download(urls[0])
        assert os.listdir(cache) == []


class TestProcesses:
    @pytest.fixture(autouse=True)
    def start(self, root):
        """Function that starts a program."""
        processes = []

        def start(program):
            processes.append(
                subprocess.Popen(
                    [
                        sys.executable,
                        '-c',
                        'import os, sys\nfrom chainer import dataset\n' + program,
                    ],
                    env={**os.environ, 'CHAINER_DATASET_ROOT': root},
                )
            )
            return processes[-1]

        yield start
        for process in processes:
            process.kill()
            process.wait()

    def test_concurrent_downloads(self, cache, server, start):
        url = server.url + '/file'
        barrier = threading.Barrier(2, timeout=30)

        def both(handler):
            barrier.wait()  # the second process asks before the first one has its file
            _whole(handler)

        server.replies['/file'] = both
        processes = [start(f'dataset.cached_download({url!r})') for _ in range(2)]
        assert [process.wait(60) for process in processes] == [0, 0]
        assert os.listdir(cache) == [_name(url)]
        assert _read_bytes(os.path.join(cache, _name(url))) == CONTENT

    def test_stuck_download_stops_no_other(self, cache, server, start):
        url = server.url + '/file'
        server.replies['/file'] = _hanging
        process = start(f'dataset.cached_download({url!r})')
        _wait(lambda: server.requests)
        [partial] = os.listdir(cache)
        server.replies['/file'] = _whole
        assert _read_bytes(dataset.cached_download(url)) == CONTENT
        # The other process still works in its folder.
        assert set(os.listdir(cache)) == {partial, _name(url)}
        assert process.poll() is None

    def test_killed_download(self, cache, server, start):
        url, other_url = server.url + '/file', server.url + '/whole'
        server.replies['/file'] = _hanging
        process = start(f'dataset.cached_download({url!r})')
        _wait(lambda: server.requests)
        process.kill()
        process.wait()
        [left] = os.listdir(cache)
        assert left != _name(url)
        dataset.cached_download(other_url)  # not responsible for it
        assert set(os.listdir(cache)) == {left, _name(other_url)}
        server.replies['/file'] = _short
        with pytest.raises(urllib.error.URLError):
            dataset.cached_download(url)
        assert os.listdir(cache) == [_name(other_url)]


def _wait(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class TestPermissions:
    @pytest.fixture(autouse=True)
    def ordinary_user(self):
        """A dataset root that cannot be written to, not even by root."""
        with tempfile.TemporaryDirectory(dir='/tmp') as folder:
            os.makedirs(os.path.join(folder, '_dl_cache'))
            _write(os.path.join(folder, '_dl_cache', _name('http://127.0.0.1:9/here')))
            for path in folder, os.path.join(folder, '_dl_cache'):
                os.chmod(path, 0o555)
            dataset.set_dataset_root(folder)
            user = os.geteuid()
            if user == 0:
                os.seteuid(65534)
            yield folder
            if user == 0:
                os.seteuid(0)
            os.chmod(os.path.join(folder, '_dl_cache'), 0o755)
            os.chmod(folder, 0o755)

    def test_readable_cache(self):
        assert _read(dataset.cached_download('http://127.0.0.1:9/here')) == 'content'

    def test_no_permission(self, ordinary_user):
        with pytest.raises(PermissionError, match=ordinary_user):
            dataset.cached_download('http://127.0.0.1:9/missing')
        with pytest.raises(PermissionError, match=ordinary_user):
            dataset.cache_or_load_file(os.path.join(ordinary_user, 'file'), None, None)
        with pytest.raises(RuntimeError, match=f'cannot create the dataset folder {ordinary_user}'):
            dataset.cache_or_load_file(os.path.join(ordinary_user, 'sub', 'file'), None, None)
