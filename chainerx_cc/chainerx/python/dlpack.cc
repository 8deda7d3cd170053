// Exchange of arrays with other libraries by DLPack: https://dmlc.github.io/dlpack/latest/

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/docs/creation.h"
#include "chainerx/python/interop.h"

namespace chainerx::python {
namespace {

// ---------------------------------------------------------------- the protocol's binary interface, version 1

enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2, kDlBool = 6 };
constexpr int32_t kDlCpu = 1;
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

// ---------------------------------------------------------------- export

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
        default:
            return kDlFloat;
    }
}

template <class Managed>
PyRef MakeCapsule(const Array& a, uint64_t flags) {
    auto e = std::make_unique<Export<Managed>>();
    e->array = a;
    for (int64_t s : a.strides()) e->strides.push_back(s / a.GetItemSize());
    e->managed.tensor = {a.raw_data(),
                         kDlCpu,
                         0,
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
    if (!self.device().HasHostMemory()) {
        PyErr_Format(PyExc_BufferError, "DLPack cannot export from %s", self.device().name().c_str());
        throw PythonError{};
    }
    return Check(Py_BuildValue("(ii)", kDlCpu, 0));
}

PyRef Dlpack(const Array& self, PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy) {
    PyTuple device = DlpackDevice(self);
    if (self.IsAnyBackpropRequired()) {
        PyErr_SetString(PyExc_BufferError, "the array belongs to a computational graph; use as_grad_stopped() first");
        throw PythonError{};
    }
    if (stream != Py_None) ThrowValueError("stream must be None for an array in CPU memory");
    if (dl_device != Py_None) {
        int same = PyObject_RichCompareBool(dl_device, device.get(), Py_EQ);
        if (same < 0) throw PythonError{};
        if (same == 0) {
            PyErr_SetString(PyExc_BufferError,
                            "the array is in CPU memory; convert it first to export it to another device");
            throw PythonError{};
        }
    }
    bool copied = copy == Py_True;
    Array a = copied ? Copy(self) : self.AsDetached();
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

    // The first element. Raises if the elements are not in the memory of the process.
    char* Locate(const DlTensor& t, int64_t item) const {
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
        if (is_outside || t.data == nullptr || !IsMapped(begin) || !IsMapped(end - 1)) ThrowOutside();
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

template <class Managed>
Array FromCapsule(PyObject* capsule, Device& device) {
    Managed* m = OpenCapsule<Managed>(capsule);
    const DlTensor& t = m->tensor;
    if (t.device_type != kDlCpu) {
        ThrowBufferError("from_dlpack: only CPU memory can be imported, not device type %d", int{t.device_type});
    }
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
    char* data = layout.Locate(t, item);
    auto bytes = static_cast<size_t>(layout.shape.GetTotalSize() * item);
    if (PyCapsule_SetName(capsule, Managed::kUsedName) != 0) throw PythonError{};
    StoragePtr storage{new Storage{data, bytes, device, &ReleaseImported<Managed>, m}};
    return internal::MakeArray(layout.shape, layout.strides, *dtype, device, std::move(storage), 0);
}

// Whether the memory is not writable. Producers before version 1 do not tell.
bool IsReadOnly(PyObject* capsule) { return (OpenCapsule<DlManagedVersioned>(capsule)->flags & kDlReadOnly) != 0; }

PyRef CallDlpack(PyObject* x) {
    PyRef method = Check(PyObject_GetAttrString(x, "__dlpack__"));
    PyRef args = Check(PyTuple_New(0));
    PyRef kwargs = Check(Py_BuildValue("{s:(ii)}", "max_version", 1, 0));
    PyRef capsule{PyObject_Call(method.get(), args.get(), kwargs.get())};
    if (capsule || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return capsule ? capsule : Check(nullptr);
    PyErr_Clear();  // a producer before version 1
    return Check(PyObject_CallNoArgs(method.get()));
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
    if (!d.HasHostMemory()) {
        ThrowBufferError("from_dlpack: cannot share CPU memory with %s", d.name().c_str());
    }
    PyRef capsule = CallDlpack(x);
    if (PyCapsule_IsValid(capsule.get(), DlManagedVersioned::kName) == 0) {
        if (PyCapsule_IsValid(capsule.get(), DlManaged::kName) == 0) {
            ThrowValueError("from_dlpack: x.__dlpack__() must return a DLPack capsule that nobody has used yet");
        }
        Array a = FromCapsule<DlManaged>(capsule.get(), d);
        return copy == Py_True ? Copy(a) : a;
    }
    bool read_only = IsReadOnly(capsule.get());
    if (read_only && copy == Py_False) {
        ThrowBufferError("from_dlpack: the memory is read-only and cannot be shared; use copy=True");
    }
    Array a = FromCapsule<DlManagedVersioned>(capsule.get(), d);
    return read_only || copy == Py_True ? Copy(a) : a;
}

}  // namespace

void BindDlpack() {
    Method<&DlpackDevice>("__dlpack_device__", "self", "(1, 0): CPU memory.");
    Method<&Dlpack>("__dlpack__", "self, stream=None, max_version=None, dl_device=None, copy=None",
                    "A DLPack capsule that shares the memory. An array of a graph is refused.");
    Function<&FromDlpack>("from_dlpack", "x, device=None, copy=None", docs::kFromDlpack);
}

}  // namespace chainerx::python
