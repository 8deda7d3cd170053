// Exchange of arrays with other libraries by DLPack: https://dmlc.github.io/dlpack/latest/

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/stream.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/docs/creation.h"
#include "chainerx/python/interop.h"

namespace chainerx::python {
namespace {

// ---------------------------------------------------------------- the protocol's binary interface, version 1

enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2, kDlBfloat = 4, kDlComplex = 5, kDlBool = 6 };
constexpr int32_t kDlCpu = 1;
constexpr int32_t kDlCuda = 2;
constexpr int32_t kDlCudaHost = 3;  // pinned memory
constexpr const char* kCudaBackend = "cuda";
constexpr uint64_t kDlReadOnly = 1;
constexpr uint64_t kDlCopied = 2;

struct DlTensor {
    void* data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t* shape;
    int64_t* strides;  // in elements; null when in C order
    uint64_t byte_offset;
};

struct DlManaged {
    static constexpr const char* kName = "dltensor";
    static constexpr const char* kUsedName = "used_dltensor";
    DlTensor tensor;
    void* owner;
    void (*deleter)(DlManaged*);
};

struct DlManagedVersioned {
    static constexpr const char* kName = "dltensor_versioned";
    static constexpr const char* kUsedName = "used_dltensor_versioned";
    uint32_t major;
    uint32_t minor;
    void* owner;
    void (*deleter)(DlManagedVersioned*);
    uint64_t flags;
    DlTensor tensor;
};

struct DlDevice {
    int type;
    int id;
};

DlDevice ParseDlDevice(PyObject* o, const char* name) {
    DlDevice device{};
    if (!PyTuple_Check(o)) ThrowTypeError("%s must be a tuple, not %s", name, Py_TYPE(o)->tp_name);
    if (PyArg_ParseTuple(o, "ii", &device.type, &device.id) == 0) throw PythonError{};
    return device;
}

// ---------------------------------------------------------------- export

DlDevice GetDlDevice(const Device& device) {
    if (device.HasHostMemory()) return {kDlCpu, 0};
    if (device.backend().name() != kCudaBackend) {
        PyErr_Format(PyExc_BufferError, "DLPack cannot export from %s", device.name().c_str());
        throw PythonError{};
    }
    return {kDlCuda, device.index()};
}

template <class Managed>
struct Export {
    Managed managed{};
    Array array;
    std::vector<int64_t> strides;
};

uint8_t CodeOf(Dtype dtype) {
    switch (GetKind(dtype)) {
        case DtypeKind::kBool:
            return kDlBool;
        case DtypeKind::kInt:
            return kDlInt;
        case DtypeKind::kUInt:
            return kDlUInt;
        case DtypeKind::kComplex:
            return kDlComplex;
        default:
            return dtype == Dtype::kBfloat16 ? kDlBfloat : kDlFloat;
    }
}

template <class Managed>
PyRef MakeCapsule(const Array& a, uint64_t flags) {
    NoteGraphBreak("the program looks into the memory of an array");
    auto e = std::make_unique<Export<Managed>>();
    e->array = a;
    for (int64_t s : a.strides()) e->strides.push_back(s / a.GetItemSize());
    DlDevice device = GetDlDevice(a.device());
    e->managed.tensor = {a.raw_data(),
                         device.type,
                         device.id,
                         a.ndim(),
                         CodeOf(a.dtype()),
                         static_cast<uint8_t>(a.GetItemSize() * 8),
                         1,
                         const_cast<int64_t*>(a.shape().data()),
                         e->strides.data(),
                         0};
    if constexpr (std::is_same_v<Managed, DlManagedVersioned>) {
        e->managed.major = 1;
        e->managed.flags = flags;
    }
    e->managed.owner = e.get();
    e->managed.deleter = [](Managed* m) { delete static_cast<Export<Managed>*>(m->owner); };
    PyRef capsule = Check(PyCapsule_New(&e->managed, Managed::kName, [](PyObject* c) {
        // A consumer renames the capsule and calls the deleter itself.
        if (PyCapsule_IsValid(c, Managed::kName) == 0) return;
        auto* m = static_cast<Managed*>(PyCapsule_GetPointer(c, Managed::kName));
        m->deleter(m);
    }));
    e.release();
    return capsule;
}

PyTuple DlpackDevice(const Array& self) {
    DlDevice device = GetDlDevice(self.device());
    return Check(Py_BuildValue("(ii)", device.type, device.id));
}

// Lets the consumer's stream wait for what makes the array.
void Await(PyObject* stream, Device& device) {
    constexpr int64_t kNoWait = -1;
    constexpr int64_t kDefaultStream = 1;
    if (device.HasHostMemory()) {
        if (stream != Py_None) ThrowValueError("stream must be None for an array in CPU memory");
        return;
    }
    int64_t handle = stream == Py_None ? kDefaultStream : GetIntArg(stream, "stream");
    if (handle == 0 || handle < kNoWait) {
        ThrowValueError("stream must be None, -1 or a positive number for an array on a GPU, not %lld",
                        static_cast<long long>(handle));
    }
    if (handle != kNoWait) GetCurrentStream(device)->LetWait(static_cast<uintptr_t>(handle));
}

// Whether the consumer wants an array of a GPU in CPU memory. Raises if it wants it anywhere else than where it is.
bool IsWantedOnHost(const Array& self, PyObject* dl_device, PyObject* copy) {
    if (dl_device == Py_None) return false;
    DlDevice device = GetDlDevice(self.device());
    DlDevice wanted = ParseDlDevice(dl_device, "dl_device");
    if (wanted.type == device.type && wanted.id == device.id) return false;
    if (wanted.type == kDlCpu && copy != Py_False) return true;
    std::string place = self.device().HasHostMemory() ? "in CPU memory" : "on " + self.device().name();
    PyErr_Format(PyExc_BufferError, "the array is %s; convert it first to export it to another device%s", place.c_str(),
                 wanted.type == kDlCpu ? ", since copy is False" : "");
    throw PythonError{};
}

PyRef Dlpack(const Array& self, PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy) {
    GetDlDevice(self.device());
    if (self.IsAnyBackpropRequired()) {
        PyErr_SetString(PyExc_BufferError, "the array belongs to a computational graph; use as_grad_stopped() first");
        throw PythonError{};
    }
    bool to_host = IsWantedOnHost(self, dl_device, copy);
    bool copied = copy == Py_True || to_host;
    Array a = to_host ? ToDevice(self, self.context().GetDevice("native")) : copied ? Copy(self) : self.AsDetached();
    if (!to_host) Await(stream, self.device());
    bool versioned = false;
    if (max_version != Py_None) {
        int major = 0;
        int minor = 0;
        if (!PyTuple_Check(max_version))
            ThrowTypeError("max_version must be a tuple, not %s", Py_TYPE(max_version)->tp_name);
        if (PyArg_ParseTuple(max_version, "ii", &major, &minor) == 0) throw PythonError{};
        versioned = major >= 1;
    }
    return versioned ? MakeCapsule<DlManagedVersioned>(a, copied ? kDlCopied : 0) : MakeCapsule<DlManaged>(a, 0);
}

// ---------------------------------------------------------------- import

template <class Managed>
void ReleaseImported(Storage* storage) noexcept {
    auto* m = static_cast<Managed*>(storage->owner());
    // The other library may need the interpreter to release its object.
    if (m->deleter != nullptr && Py_IsInitialized() != 0) {
        GilScope gil;
        m->deleter(m);
    }
    delete storage;
}

std::optional<Dtype> DtypeFrom(const DlTensor& t) {
    if (t.lanes != 1) return std::nullopt;
    for (int i = 0; i < kNumDtypes; ++i) {
        auto dtype = static_cast<Dtype>(i);
        if (CodeOf(dtype) == t.code && GetItemSize(dtype) * 8 == t.bits) return dtype;
    }
    return std::nullopt;
}

template <class... Args>
[[noreturn]] void ThrowBufferError(const char* format, Args... args) {
    PyErr_Format(PyExc_BufferError, format, args...);
    throw PythonError{};
}

// The dimensions of a tensor in bytes. Raises if what describes them cannot be.
struct Layout {
    Layout(const DlTensor& t, int64_t item) {
        if (t.ndim < 0 || t.ndim > kMaxNdim) {
            throw DimensionError{"from_dlpack: an array has at most ", int{kMaxNdim}, " dimensions, not ", t.ndim};
        }
        if (t.ndim > 0 && t.shape == nullptr) {
            ThrowBufferError("from_dlpack: the tensor has %d dimensions and no shape", int{t.ndim});
        }
        shape = Shape(t.shape, t.shape + t.ndim);
        CheckShape(shape, item);
        strides = Strides(shape, item);
        for (int i = 0; t.strides != nullptr && i < t.ndim; ++i) {
            if (__builtin_mul_overflow(t.strides[i], item, &strides[i])) ThrowOutside();
        }
    }

    // The first element. Raises if the elements are not in the memory of the process, as far as the host can tell.
    char* Locate(const DlTensor& t, int64_t item, bool is_on_host) const {
        auto address = reinterpret_cast<uintptr_t>(t.data);
        bool is_outside = __builtin_add_overflow(address, t.byte_offset, &address);
        auto* data = reinterpret_cast<char*>(address);
        if (shape.GetTotalSize() == 0) return data;
        uintptr_t begin = address;
        uintptr_t end = address;
        is_outside = is_outside || __builtin_add_overflow(end, item, &end);
        for (int i = 0; i < shape.ndim(); ++i) {
            int64_t extent = 0;
            is_outside = is_outside || __builtin_mul_overflow(shape[i] - 1, strides[i], &extent);
            uintptr_t& edge = extent < 0 ? begin : end;
            is_outside = is_outside || __builtin_add_overflow(edge, extent, &edge);
        }
        is_outside = is_outside || t.data == nullptr;
        if (is_outside || (is_on_host && !(IsMapped(begin) && IsMapped(end - 1)))) ThrowOutside();
        if (address % item != 0) ThrowBufferError("from_dlpack: the memory is not aligned to the size of its elements");
        return data;
    }

    Shape shape;
    Strides strides;

private:
    [[noreturn]] static void ThrowOutside() {
        ThrowBufferError("from_dlpack: elements of the tensor are outside of the memory of the process");
    }

    // False if nothing is at the address, as far as the system tells.
    static bool IsMapped([[maybe_unused]] uintptr_t address) {
#ifdef __linux__
        uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        unsigned char state = 0;
        return mincore(reinterpret_cast<void*>(address / page * page), 1, &state) == 0 || errno != ENOMEM;
#else
        return true;
#endif
    }
};

template <class Managed>
Managed* OpenCapsule(PyObject* capsule) {
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::kName));
    if (m == nullptr) throw PythonError{};
    if constexpr (std::is_same_v<Managed, DlManagedVersioned>) {
        if (m->major > 1) {
            ThrowBufferError("from_dlpack: version %u of DLPack is not known", static_cast<unsigned>(m->major));
        }
    }
    return m;
}

// ChainerX's device with such memory: for CPU memory the wanted one, if it can use that.
Device& FindDevice(DlDevice device, Device& wanted) {
    switch (device.type) {
        case kDlCpu:
        case kDlCudaHost:
            return wanted.HasHostMemory() ? wanted : wanted.context().GetDevice("native");
        case kDlCuda:
            try {
                return wanted.context().GetBackend(kCudaBackend).GetDevice(device.id);
            } catch (const BackendError& error) {
                ThrowBufferError("from_dlpack: memory of a GPU cannot be imported: %s", error.what());
            }
        default:
            ThrowBufferError("from_dlpack: memory of device type %d cannot be imported", device.type);
    }
}

template <class Managed>
Array FromCapsule(PyObject* capsule, Device& wanted) {
    Managed* m = OpenCapsule<Managed>(capsule);
    const DlTensor& t = m->tensor;
    Device& device = FindDevice({t.device_type, t.device_id}, wanted);
    std::optional<Dtype> dtype = DtypeFrom(t);
    if (!dtype.has_value()) {
        throw DtypeError{"from_dlpack: no dtype for code ",
                         int{t.code},
                         " with ",
                         int{t.bits},
                         " bits and ",
                         int{t.lanes},
                         " lanes"};
    }
    int64_t item = GetItemSize(*dtype);
    Layout layout{t, item};
    char* data = layout.Locate(t, item, device.HasHostMemory());
    auto bytes = static_cast<size_t>(layout.shape.GetTotalSize() * item);
    if (PyCapsule_SetName(capsule, Managed::kUsedName) != 0) throw PythonError{};
    NoteGraphBreak("an array shares memory of the program");
    StoragePtr storage{new Storage{data, bytes, device, &ReleaseImported<Managed>, m}};
    return internal::MakeArray(layout.shape, layout.strides, *dtype, device, std::move(storage), 0);
}

// Whether the memory is not writable. Producers before version 1 do not tell.
bool IsReadOnly(PyObject* capsule) { return (OpenCapsule<DlManagedVersioned>(capsule)->flags & kDlReadOnly) != 0; }

// The stream in which the device will use the memory of a producer, for its __dlpack__; None for CPU memory.
PyRef GetConsumerStream(PyObject* x, Device& wanted) {
    PyRef method{PyObject_GetAttrString(x, "__dlpack_device__")};
    if (!method) {
        PyErr_Clear();  // a producer that has CPU memory alone
        return PyRef::Borrow(Py_None);
    }
    DlDevice device = ParseDlDevice(Check(PyObject_CallNoArgs(method.get())).get(), "__dlpack_device__()");
    if (device.type != kDlCuda) return PyRef::Borrow(Py_None);
    uintptr_t handle = GetCurrentStream(FindDevice(device, wanted))->handle();
    return Check(PyLong_FromSize_t(handle == 0 ? 1 : handle));
}

PyRef CallDlpack(PyObject* x, Device& wanted) {
    PyRef method = Check(PyObject_GetAttrString(x, "__dlpack__"));
    PyRef args = Check(PyTuple_New(0));
    PyRef stream = GetConsumerStream(x, wanted);
    PyRef kwargs = Check(Py_BuildValue("{s:O,s:(ii)}", "stream", stream.get(), "max_version", 1, 0));
    PyRef capsule{PyObject_Call(method.get(), args.get(), kwargs.get())};
    if (capsule || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return capsule ? capsule : Check(nullptr);
    PyErr_Clear();  // a producer before version 1
    if (stream.get() == Py_None) return Check(PyObject_CallNoArgs(method.get()));
    kwargs = Check(Py_BuildValue("{s:O}", "stream", stream.get()));
    return Check(PyObject_Call(method.get(), args.get(), kwargs.get()));
}

Array FromDlpack(PyObject* x, Device* device, PyObject* copy) {
    if (IsNdarray(x)) {
        const Array& a = GetArray(x);
        Array out = device == nullptr ? a : ToDevice(a, *device);
        return copy == Py_True && out.body() == a.body() ? Copy(out) : out;
    }
    if (PyObject_HasAttrString(x, "__dlpack__") == 0) {
        ThrowTypeError("x must have a method __dlpack__, %s has none", Py_TYPE(x)->tp_name);
    }
    Device& d = device == nullptr ? GetDefaultDevice() : *device;
    HeldDevice held{&d};
    PyRef capsule = CallDlpack(x, d);
    Array a;
    bool read_only = false;
    if (PyCapsule_IsValid(capsule.get(), DlManagedVersioned::kName) != 0) {
        read_only = IsReadOnly(capsule.get());
        if (read_only && copy == Py_False) {
            ThrowBufferError("from_dlpack: the memory is read-only and cannot be shared; use copy=True");
        }
        a = FromCapsule<DlManagedVersioned>(capsule.get(), d);
    } else if (PyCapsule_IsValid(capsule.get(), DlManaged::kName) != 0) {
        a = FromCapsule<DlManaged>(capsule.get(), d);
    } else {
        ThrowValueError("from_dlpack: x.__dlpack__() must return a DLPack capsule that nobody has used yet");
    }
    if (device != nullptr && &a.device() != device) {
        if (copy == Py_False) {
            ThrowBufferError("from_dlpack: the memory is that of %s and not of %s, so it cannot be shared",
                             a.device().name().c_str(), device->name().c_str());
        }
        return ToDevice(a, *device);
    }
    return read_only || copy == Py_True ? Copy(a) : a;
}

}  // namespace

void BindDlpack() {
    Method<&DlpackDevice>("__dlpack_device__", "self", "(1, 0): CPU memory; (2, N): memory of cuda:N.");
    Method<&Dlpack>("__dlpack__", "self, stream=None, max_version=None, dl_device=None, copy=None",
                    "A DLPack capsule that shares the memory. An array of a graph is refused.");
    Function<&FromDlpack>("from_dlpack", "x, device=None, copy=None", docs::kFromDlpack);
}

}  // namespace chainerx::python
