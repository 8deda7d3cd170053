#pragma once

// The documentation of gradients and of contexts, devices and scopes; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kBackward = R"(
Computes gradients of arrays with respect to all that require one, and adds them to their ``grad``.

An output that has a gradient (:meth:`~chainerx.ndarray.set_grad`) starts from it, another one from ones. The outputs
then leave the graph, unless ``enable_double_backprop``; the arrays behind them stay as long as other arrays lead to them.

Args:
    outputs (~chainerx.ndarray or sequence of them): Arrays; those outside of the graph count as constants.
    @backprop_id
    @enable_double_backprop
    @loss_scale
    retain_grad (bool): Whether the arrays on the way get their gradients, too.

Raises:
    ~chainerx.GradientError: If an output has left the graph.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> chainerx.backward((x * x).sum())
>>> x.grad
array([2., 4.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kGrad = R"(
Computes and returns gradients of arrays with respect to given ones.

The graph is kept.

Args:
    outputs (~chainerx.ndarray or sequence of them): Arrays of the graph.
    inputs (~chainerx.ndarray or sequence of them): Arrays with respect to which to differentiate.
    @backprop_id
    @enable_double_backprop
    set_grad (bool): Whether the inputs get their gradients, too.
    retain_grad (bool): Whether the arrays on the way get their gradients, too.
    grad_outputs (sequence): Gradients of the outputs to start from; ``None`` means ones.
    @loss_scale

Returns:
    list: A gradient for each input; ``None`` where no output depends on it.

Raises:
    ~chainerx.GradientError: If an output has left the graph.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> gx, = chainerx.grad([(x ** 3).sum()], [x], enable_double_backprop=True)
>>> gx
array([ 3., 12.], shape=(2,), dtype=float64, device='native:0', backprop_ids=['<default>'])
>>> chainerx.grad([gx.sum()], [x])
[array([ 6., 12.], shape=(2,), dtype=float64, device='native:0')]
)";

constexpr const char* kCheckBackward = R"(
Compares gradients of a function with central differences.

Args:
    func: Function of a list of arrays that returns an array or a list of them.
    inputs (sequence of ~chainerx.ndarray): Arguments of the function; those that require gradients are checked.
    grad_outputs (sequence of ~chainerx.ndarray): Gradients of the outputs.
    eps (sequence of ~chainerx.ndarray): For each input, the differences.
    atol, rtol (float): Absolute and relative tolerance.
    @backprop_id

Raises:
    ~chainerx.GradientCheckError: If a gradient is wrong.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> chainerx.check_backward(
...     lambda xs: [chainerx.square(xs[0])], [x], [chainerx.ones(2, 'float64')],
...     [chainerx.full(2, 1e-3)])
)";

constexpr const char* kCheckDoubleBackward = R"(
Compares second gradients of a function with central differences.

Args:
    func: Function of a list of arrays that returns an array or a list of them.
    inputs (sequence of ~chainerx.ndarray): Arguments of the function; those that require gradients are checked.
    grad_outputs (sequence of ~chainerx.ndarray): Gradients of the outputs; they require gradients themselves.
    grad_grad_inputs (sequence of ~chainerx.ndarray): Gradients of the gradients of the inputs.
    eps (sequence of ~chainerx.ndarray): For each input, then for each of ``grad_outputs``, the differences.
    atol, rtol (float): Absolute and relative tolerance.
    @backprop_id

Raises:
    ~chainerx.GradientCheckError: If a gradient is wrong.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> gy = chainerx.ones(2, 'float64').require_grad()
>>> chainerx.check_double_backward(
...     lambda xs: [chainerx.square(xs[0])], [x], [gy], [chainerx.ones(2, 'float64')],
...     [chainerx.full(2, 1e-3)] * 2)
)";

constexpr const char* kContext = R"(
Owner of backends, devices and graphs.

Arrays of different contexts are independent. One context exists from the beginning; programs seldom need
another.

>>> context = chainerx.get_default_context()
>>> context.get_device('native', 1)
native:1
)";

constexpr const char* kContextGetBackend = R"(
Finds a backend.

Args:
    backend_name (str): Name, such as ``'native'``.

Returns:
    ~chainerx.Backend: Backend.

Raises:
    ~chainerx.BackendError: If there is none of that name.

>>> chainerx.get_default_context().get_backend('native').name
'native'
)";

constexpr const char* kContextGetDevice = R"(
Finds a device.

Args:
    device_name (str): Name such as ``'native:0'``, or the name of a backend (then also as ``backend_name``).
    index (int or None): Number of the device in that backend.

Returns:
    ~chainerx.Device: Device.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If the name has no meaning.
    IndexError: If the backend has not so many devices.

>>> chainerx.get_default_context().get_device('native:1').index
1
)";

constexpr const char* kMakeBackpropId = R"(
Begins a graph; see :class:`~chainerx.BackpropScope`.

Args:
    backprop_name (str): Name of the graph, for messages.

Returns:
    ~chainerx.BackpropId: The graph.

Raises:
    ~chainerx.ContextError: If there are too many graphs.

>>> context = chainerx.get_default_context()
>>> backprop_id = context.make_backprop_id('inner')
>>> x = chainerx.array([1.]).require_grad(backprop_id)
>>> context.release_backprop_id(backprop_id)
)";

constexpr const char* kReleaseBackpropId = R"(
Ends a graph: arrays leave it, and its gradients are gone.

Args:
    backprop_id (~chainerx.BackpropId): Graph that :meth:`make_backprop_id` has begun.

Raises:
    ~chainerx.ChainerxError: If the graph has ended already.

>>> context = chainerx.get_default_context()
>>> context.release_backprop_id(context.make_backprop_id('inner'))
)";

constexpr const char* kBackend = R"(
Devices of one kind, and the kernels that run on them.

>>> backend = chainerx.get_backend('native')
>>> backend.name, backend.get_device(0)
('native', native:0)
)";

constexpr const char* kBackendGetDevice = R"(
Finds a device.

Args:
    index (int): Its number.

Returns:
    ~chainerx.Device: Device.

Raises:
    IndexError: If there is no such device.

>>> chainerx.get_backend('native').get_device(1)
native:1
)";

constexpr const char* kBackendGetDeviceCount = R"(
Counts the devices.

Returns:
    int: Number of devices.

>>> chainerx.get_backend('native').get_device_count() > 0
True
)";

constexpr const char* kDevice = R"(
A place where arrays live, such as the CPU (``native:0``) or a GPU (``cuda:0``).

Devices compare equal if they are the same one, can be keys, and are pickled by their names.

>>> device = chainerx.get_device('native:0')
>>> device.name, device.index, device.backend.name
('native:0', 0, 'native')
)";

constexpr const char* kSynchronize = R"(
Waits until the computations on the device are done.

>>> chainerx.get_device('native:0').synchronize()
)";

constexpr const char* kBackpropId = R"(
A graph, as :class:`~chainerx.BackpropScope` or :meth:`~chainerx.Context.make_backprop_id` gives it.

>>> with chainerx.backprop_scope('inner') as backprop_id:
...     backprop_id
<BackpropId 'inner'>
)";

constexpr const char* kAnyGraph = R"(
Class of ``chainerx.anygraph``, which means all graphs.

>>> x = chainerx.array([1.]).require_grad()
>>> x.is_backprop_required(chainerx.anygraph)
True
)";

constexpr const char* kGetBackend = R"(
Finds a backend of the default context.

Args:
    backend_name (str): Name, such as ``'native'``.

Returns:
    ~chainerx.Backend: Backend.

Raises:
    ~chainerx.BackendError: If there is none of that name.

>>> chainerx.get_backend('native').name
'native'
)";

constexpr const char* kGetDevice = R"(
Finds a device of the default context.

Args:
    device (str or ~chainerx.Device): Name such as ``'native:0'``, or that of a backend if an index follows; or a device,
        which is returned. The default device if nothing is given.
    index (int): Index of the device in its backend.

Returns:
    ~chainerx.Device: Device.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If the name has no meaning.
    IndexError: If the backend has not so many devices.

>>> chainerx.get_device('native:1') == chainerx.get_device('native', 1)
True
)";

constexpr const char* kGetDefaultContext = R"(
Tells the calling thread's default context: the one set for it, else the global one.

Returns:
    ~chainerx.Context: Context.

Raises:
    ~chainerx.ContextError: If there is none.

>>> chainerx.get_default_context() is chainerx.get_global_default_context()
True
)";

constexpr const char* kSetDefaultContext = R"(
Sets the calling thread's default context.

Args:
    context (~chainerx.Context or None): Context; ``None`` means the global one.

>>> chainerx.set_default_context(chainerx.Context())
>>> chainerx.get_default_context() is chainerx.get_global_default_context()
False
>>> chainerx.set_default_context(None)
)";

constexpr const char* kGetGlobalDefaultContext = R"(
Tells the context of threads that have not set one.

Returns:
    ~chainerx.Context: Context.

Raises:
    ~chainerx.ContextError: If there is none.

>>> chainerx.get_global_default_context().get_backend('native').name
'native'
)";

constexpr const char* kSetGlobalDefaultContext = R"(
Sets the context of threads that have not set one.

Args:
    context (~chainerx.Context or None): Context.

>>> chainerx.set_global_default_context(chainerx.get_global_default_context())
)";

constexpr const char* kGetDefaultDevice = R"(
Tells the calling thread's default device, on which arrays are made unless another one is given.

Returns:
    ~chainerx.Device: Device.

>>> chainerx.get_default_device()
native:0
)";

constexpr const char* kSetDefaultDevice = R"(
Sets the calling thread's default device.

Args:
    device (~chainerx.Device or str): Device.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If the name has no meaning.
    IndexError: If the backend has not so many devices.

>>> chainerx.set_default_device('native:1')
>>> chainerx.ones(1).device
native:1
>>> chainerx.set_default_device('native:0')
)";

constexpr const char* kContextScope = R"(
Makes a context the calling thread's default one for a block. Also called ``context_scope``.

Args:
    context (~chainerx.Context): Context.

>>> context = chainerx.Context()
>>> with chainerx.context_scope(context):
...     chainerx.get_default_context() is context
True
)";

constexpr const char* kDeviceScope = R"(
Makes a device the calling thread's default one for a block. Also called ``using_device``.

Args:
    device, index: As for :func:`chainerx.get_device`.

>>> with chainerx.using_device('native:1') as scope:
...     chainerx.ones(1).device, scope.device
(native:1, native:1)
)";

constexpr const char* kNoBackpropMode = R"(
Records no computations of the calling thread during a block. Also called ``no_backprop_mode``.

Args:
    backprop_ids (~chainerx.BackpropId, list of them or ~chainerx.Context): Graphs; all of the context, by default the
        default one, unless given.

>>> x = chainerx.array([1.]).require_grad()
>>> with chainerx.no_backprop_mode():
...     (2 * x).is_backprop_required()
False
)";

constexpr const char* kForceBackpropMode = R"(
Records computations during a block inside of ``no_backprop_mode``. Also called ``force_backprop_mode``.

Args:
    backprop_ids (~chainerx.BackpropId, list of them or ~chainerx.Context): Graphs; all of the context, by default the
        default one, unless given.

>>> x = chainerx.array([1.]).require_grad()
>>> with chainerx.no_backprop_mode(), chainerx.force_backprop_mode():
...     (2 * x).is_backprop_required()
True
)";

constexpr const char* kBackpropScope = R"(
Begins a new graph for a block and ends it afterwards. Also called ``backprop_scope``.

Args:
    backprop_name (str): Name of the graph, for messages.
    context (~chainerx.Context or None): Context; the default one unless given.

>>> with chainerx.backprop_scope('inner') as backprop_id:
...     x = chainerx.array([3.]).require_grad(backprop_id)
...     (x * x).backward(backprop_id)
...     x.get_grad(backprop_id)
array([6.], shape=(1,), dtype=float64, device='native:0')
)";

constexpr const char* kIsBackpropRequired = R"(
Tells whether the calling thread records computations.

Args:
    context (~chainerx.Context, ~chainerx.BackpropId or None): Context or graph; the default graph of the default
        context unless given.

Returns:
    bool: False inside of ``no_backprop_mode``.

>>> with chainerx.no_backprop_mode():
...     chainerx.is_backprop_required()
False
)";

}  // namespace chainerx::python::docs
