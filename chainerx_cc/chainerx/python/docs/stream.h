#pragma once

// The documentation of streams; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kStream = R"(
A queue of work of a device.

The work in one stream runs in order; that of several may overlap. Each device has a default stream, in which all threads
work unless they enter another one with ``with``. Memory of an array that ends is used again after all streams have
passed that point. Nothing else is ordered between streams, so a stream that uses an array of another one has to
:meth:`wait` for it. A device of the native backend is done when a call returns; its streams do nothing.

Args:
    device (str or ~chainerx.Device): Device; the default device if nothing is given.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If the name has no meaning.

>>> x = chainerx.ones(3)
>>> stream = chainerx.Stream(x.device)
>>> stream.wait(x.device.current_stream)    # which fills x
>>> with stream:
...     y = x + 1
>>> x.device.current_stream.wait(stream)
>>> y.sum()
array(6., shape=(), dtype=float32, device='native:0')
)";

constexpr const char* kStreamWait = R"(
Lets the work that comes into this stream from now on wait for the present work of another one.

The call itself does not wait.

Args:
    stream (Stream): A stream of the same or of another device.

>>> first, second = chainerx.Stream('native:0'), chainerx.Stream('native:1')
>>> second.wait(first)
)";

constexpr const char* kCurrentStream = R"(The thread's current :class:`~chainerx.Stream` of the device.)";

}  // namespace chainerx::python::docs
