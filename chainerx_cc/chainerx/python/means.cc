// What chainermn computes in the memory of NumPy arrays for means over ranks, and the memory that ranks share.

#include "chainerx/python/means.h"

#include <Python.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "chainerx/backends/native/means.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/error.h"
#include "chainerx/core/places.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/object.h"

namespace chainerx::python {

using PlacesPtr = std::shared_ptr<Places>;

namespace {

// The number of elements above which the interpreter lock is released.
constexpr int64_t kBlocking = 65536;

// The contiguous elements of an object with a buffer.
class Elements {
public:
    Elements(PyObject* o, Py_ssize_t item_size, bool is_result, const char* name) {
        if (PyObject_GetBuffer(o, &view_, PyBUF_C_CONTIGUOUS | (is_result ? PyBUF_WRITABLE : 0)) < 0) {
            throw PythonError{};
        }
        if (view_.itemsize != item_size) {
            Py_ssize_t given = view_.itemsize;
            PyBuffer_Release(&view_);
            ThrowValueError("%s must have elements of %zd bytes, not %zd", name, item_size, given);
        }
    }
    ~Elements() { PyBuffer_Release(&view_); }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;

    template <class T>
    T* data() const {
        return static_cast<T*>(view_.buf);
    }
    int64_t count() const { return view_.len / view_.itemsize; }

private:
    Py_buffer view_{};
};

int64_t SameCount(const Elements& a, const Elements& b) {
    if (a.count() != b.count()) {
        ThrowValueError("the numbers of elements differ: %zd and %zd", static_cast<Py_ssize_t>(a.count()),
                        static_cast<Py_ssize_t>(b.count()));
    }
    return a.count();
}

native::HalfType TypeOf(bool is_bfloat16) {
    return is_bfloat16 ? native::HalfType::kBfloat16 : native::HalfType::kFloat16;
}

void ToHalf(PyObject* floats, PyObject* halves, bool is_bfloat16) {
    Elements from{floats, 4, false, "floats"};
    Elements to{halves, 2, true, "halves"};
    int64_t count = SameCount(from, to);
    BlockingScope scope{count > kBlocking};
    native::FloatsToHalves(TypeOf(is_bfloat16), count, from.data<float>(), to.data<uint16_t>());
}

void FromHalf(PyObject* halves, PyObject* floats, bool is_bfloat16) {
    Elements from{halves, 2, false, "halves"};
    Elements to{floats, 4, true, "floats"};
    int64_t count = SameCount(from, to);
    BlockingScope scope{count > kBlocking};
    native::HalvesToFloats(TypeOf(is_bfloat16), count, from.data<uint16_t>(), to.data<float>());
}

void Mean(PyObject* sources, PyObject* results) {
    std::deque<Elements> from;
    std::deque<Elements> to;
    ForEachItem(sources, "sources", [&from](PyObject* o) { from.emplace_back(o, 4, false, "sources"); });
    ForEachItem(results, "results", [&to](PyObject* o) { to.emplace_back(o, 4, true, "results"); });
    if (from.empty()) ThrowValueError("sources must have an item");
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    for (const Elements& e : from) {
        SameCount(from.front(), e);
        inputs.push_back(e.data<float>());
    }
    for (const Elements& e : to) {
        SameCount(from.front(), e);
        outputs.push_back(e.data<float>());
    }
    int64_t count = from.front().count();
    BlockingScope scope{count > kBlocking};
    native::WriteMean(count, inputs, outputs);
}

PlacesPtr NewPlaces(const std::vector<Array>& arrays) {
    std::vector<StoragePtr> pieces;
    for (const Array& a : arrays) {
        const StoragePtr& storage = a.body()->storage;
        if (!a.IsContiguous() || static_cast<size_t>(a.GetNBytes()) != storage->bytes()) {
            throw ChainerxError{"_Places: an array is a part of another one"};
        }
        pieces.push_back(storage);
    }
    return std::make_shared<Places>(pieces);
}

PyRef EnterPlaces(PyObject* self) {
    UsePlaces(ValueOf<PlacesPtr>(self));
    return PyRef::Borrow(self);
}

void ExitPlaces(PyObject* self, PyObject*, PyObject*, PyObject*) {
    ValueOf<PlacesPtr>(self);  // raises without one
    LeavePlaces();
}

}  // namespace

void BindMeans() {
    Function<&ToHalf>("_to_half", "floats, halves, is_bfloat16", "Rounds float32 to the bits of 16-bit numbers.");
    Function<&FromHalf>("_from_half", "halves, floats, is_bfloat16", "Inverse of ``_to_half``.");
    Function<&Mean>("_mean", "sources, results", "Writes the mean of arrays of float32 to others.");
}

void AddPlaces(PyObject* module) {
    Class<PlacesPtr>{"_Places", "Memory for arrays of exactly the sizes of those whose memory it is."}
            .Init<&NewPlaces>("arrays")
            .Method<&EnterPlaces>("__enter__", "self",
                                  "Lets arrays of the CPU that this thread makes take places first; may be nested.")
            .Method<&ExitPlaces>("__exit__", "self, exc_type=None, exc_value=None, traceback=None", "Ends that.")
            .Add(module);
}

}  // namespace chainerx::python
