"""Downloads of single files that are complete and have the expected content."""

from __future__ import annotations

import os
import shutil
import warnings

_DEFAULT_TIMEOUT = 60.0
_TIMEOUT_VARIABLE = 'CHAINER_DOWNLOAD_TIMEOUT'


def get_timeout(timeout: float | None) -> float:
    """Returns the timeout in seconds: the argument, the environment variable or the default."""
    name: str = 'timeout'
    value: float | str | None = timeout
    if value is None:
        name = f'the environment variable {_TIMEOUT_VARIABLE}'
        value = os.environ.get(_TIMEOUT_VARIABLE) or _DEFAULT_TIMEOUT
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float('inf'):
        raise ValueError(f'{name} must be a positive number of seconds, but was {value!r}')
    return seconds


def parse_checksum(checksum: str) -> tuple[str, str]:
    """Returns the name of the hash function and the hexadecimal digits."""
    import hashlib

    algorithm, _, digits = checksum.lower().partition(':')
    if algorithm in hashlib.algorithms_available:
        size = hashlib.new(algorithm, usedforsecurity=False).digest_size
        if size and len(digits) == 2 * size and set(digits) <= set('0123456789abcdef'):
            return algorithm, digits
    raise ValueError(
        "checksum must be the name of a hash function and hexadecimal digits, such as 'sha256:' "
        f'and 64 digits, but was {checksum!r}'
    )


def check_cached(path: str, url: str, checksum: str | None) -> None:
    """Raises an error if a cached file does not have the expected content."""
    import urllib.error

    try:
        _check_content(path, checksum)
    except OSError as e:
        raise urllib.error.URLError(
            f'the cached copy of {url}, {path}, cannot be used ({e}); '
            'delete it to download it again'
        ) from e


def fetch(url: str, path: str, checksum: str | None, timeout: float, cache_path: str) -> None:
    """Writes the content of ``url`` to ``path``; errors name ``cache_path``, its place."""
    # Loaded here, because they take long and most programs download nothing.
    import http.client
    import urllib.error

    try:
        _receive(url, path, checksum, timeout)
        _check_content(path, checksum)
    except (OSError, http.client.HTTPException) as e:
        if isinstance(e, urllib.error.HTTPError):
            e.close()  # it has the open connection
        raise urllib.error.URLError(
            f'could not download {url} ({e}); without a network, put the file at {cache_path}'
        ) from e


def _receive(url, path, checksum, timeout):
    import urllib.request

    request = urllib.request.Request(url)
    with urllib.request.urlopen(request, timeout=timeout) as response:
        _check_redirections(request)
        with open(path, 'wb') as f:
            shutil.copyfileobj(response, f)
            f.flush()
            os.fsync(f.fileno())  # the name must not be on disk before the content
            size = f.tell()
    _check_length(response, size, url, checksum)


def _check_redirections(request):
    # The dictionary has all addresses of a chain of redirections.
    for address in getattr(request, 'redirect_dict', ()):
        if request.type == 'https' and not address.lower().startswith('https:'):
            raise OSError(f'refused the redirection from https to {address}')


def _check_length(response, size, url, checksum):
    # An incomplete reply in chunks raises an error while it is read.
    if 'chunked' in response.headers.get('Transfer-Encoding', '').lower():
        return
    length = response.headers.get('Content-Length', '')
    if length.isdecimal():
        if size != int(length):
            raise OSError(f'received {size} of {length} bytes')
    elif checksum is None:
        warnings.warn(
            f'The reply from {url} has no length, so a part of it may be missing ({size} bytes '
            'were received). Pass checksum to be sure.',
            RuntimeWarning,
            stacklevel=5,
        )


def _check_content(path, checksum):
    if checksum is None:
        return
    import hashlib

    algorithm, expected = parse_checksum(checksum)
    # Some systems forbid old hash functions for security.
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, 'rb') as f:
        while block := f.read(1 << 20):
            digest.update(block)
    actual = digest.hexdigest()
    if actual != expected:
        raise OSError(f'its {algorithm} is {actual}, but {expected} was expected')
