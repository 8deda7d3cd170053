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
    ptr (int): A stream of another library, such as ``cupy.cuda.Stream.ptr``, instead of a new one. Memory of arrays
        waits for it, too, as long as this object, or an array that was made in it, exists.
    owner: What keeps that stream, such as the ``cupy.cuda.Stream``. It is kept as long.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If the name has no meaning, or ``ptr`` cannot be a stream of the device.

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

constexpr const char* kStreamSynchronize = R"(
Waits until all its work is done.

Raises:
    IndexError: If an operation found an index out of bounds on a GPU.

>>> chainerx.Stream('native:0').synchronize()
)";

constexpr const char* kStreamDone = R"(
Whether all its work is done.

>>> chainerx.Stream('native:0').done
True
)";

constexpr const char* kStreamPointer = R"(
What CUDA calls it, for other libraries; 0 for the default stream.

>>> chainerx.get_device('native:0').current_stream.ptr
0
)";

constexpr const char* kCurrentStream = R"(
The thread's current :class:`~chainerx.Stream` of the device.

>>> device = chainerx.get_device('native:0')
>>> with chainerx.Stream(device) as stream:
...     device.current_stream == stream
True
)";

}  // namespace chainerx::python::docs
