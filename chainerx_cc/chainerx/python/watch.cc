#include "chainerx/python/watch.h"

#include <array>
#include <cstring>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/small_vector.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

// Whether an object can take the place of another one unnoticed.
bool IsSameValue(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (a == nullptr || b == nullptr || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_CheckExact(a)) {
        double x = PyFloat_AS_DOUBLE(a);
        double y = PyFloat_AS_DOUBLE(b);
        return std::memcmp(&x, &y, sizeof(double)) == 0;
    }
    if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) {
        int same = PyObject_RichCompareBool(a, b, Py_EQ);
        if (same < 0) PyErr_Clear();
        return same > 0;
    }
    return false;
}

PyObject* ClassDict(PyObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
    return PyType_GetDict(reinterpret_cast<PyTypeObject*>(type));
#else
    return Py_XNewRef(reinterpret_cast<PyTypeObject*>(type)->tp_dict);
#endif
}

// A number that every change of a class or of its bases replaces, or zero.
unsigned int VersionOf(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_version_tag; }

// What a class is besides its dict, as borrowed references: its names, which no version covers, its metaclass, and the
// order in which it looks for attributes, of which an assignment to `__bases__` makes another one.
std::array<PyObject*, 4> HeadOf(PyObject* type) {
    PyTypeObject* t = reinterpret_cast<PyTypeObject*>(type);
    bool is_heap = (t->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;  // the names of others cannot change
    PyHeapTypeObject* heap = is_heap ? reinterpret_cast<PyHeapTypeObject*>(type) : nullptr;
    return {is_heap ? heap->ht_name : nullptr, is_heap ? heap->ht_qualname : nullptr,
            reinterpret_cast<PyObject*>(Py_TYPE(type)), t->tp_mro};
}

// What the buffer of an object consists of: its format, shape and elements, and whether it is read-only.
std::string BufferOf(PyObject* object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) throw PythonError{};
    std::string data{view.format};
    data.append(reinterpret_cast<const char*>(view.shape), sizeof(Py_ssize_t) * static_cast<size_t>(view.ndim));
    data.append(static_cast<const char*>(view.buf), static_cast<size_t>(view.len));
    data.push_back(view.readonly != 0 ? 'r' : 'w');
    PyBuffer_Release(&view);
    return data;
}

// Calls f(i, part) for what a function consists of: its code, defaults, keyword defaults and closure, and the contents
// of the cells of the closure. Ends and returns false if f does.
template <class F>
bool ForEachPart(PyObject* function, F&& f) {
    PyObject* closure = PyFunction_GetClosure(function);
    size_t i = 0;
    for (PyObject* part : {PyFunction_GetCode(function), PyFunction_GetDefaults(function),
                           PyFunction_GetKwDefaults(function), closure}) {
        if (!f(i++, part)) return false;
    }
    for (Py_ssize_t k = 0; closure != nullptr && k < PyTuple_GET_SIZE(closure); ++k) {
        if (!f(i++, PyCell_GET(PyTuple_GET_ITEM(closure, k)))) return false;
    }
    return true;
}

// Calls f(element) for the elements of a set, in order; ends and returns false if f does. Iterators cost ten times
// more.
template <class F>
bool ForEachElement(PyObject* set, F&& f) {
    const PySetObject& s = *reinterpret_cast<PySetObject*>(set);
    for (Py_ssize_t i = 0; i <= s.mask; ++i) {
        const setentry& entry = s.table[i];
        bool is_empty = entry.key == nullptr || entry.hash == -1;  // -1: it had an element
        if (!is_empty && !f(entry.key)) return false;
    }
    return true;
}

}  // namespace

Watch::Entry& Watch::Add(Kind kind, PyObject* object) {
    entries_.push_back({kind, PyRef::Borrow(object), PyRef{}, {}, 0, 0, {}});
    return entries_.back();
}

void Watch::AddDictItems(Entry& entry, PyObject* dict, PyObject* ignored) {
    PyObject* key;
    PyObject* value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &key, &value) != 0) {
        int is_ignored = ignored == Py_None ? 0 : PySequence_Contains(ignored, key);
        if (is_ignored < 0) throw PythonError{};
        entry.items.push_back({PyRef::Borrow(key), PyRef::Borrow(is_ignored != 0 ? nullptr : value)});
    }
}

void Watch::AddAttributes(PyObject* object, PyObject* ignored) {
    Entry& entry = Add(Kind::kAttributes, object);
    entry.container = Check(PyObject_GenericGetDict(object, nullptr));
    entry.items.push_back({PyRef::Borrow(reinterpret_cast<PyObject*>(Py_TYPE(object))), PyRef{}});
    AddDictItems(entry, entry.container.get(), ignored);
}

void Watch::AddMember(PyObject* object, PyObject* name) {
    PyRef value = Check(PyObject_GetAttr(object, name));
    Entry& entry = Add(Kind::kMember, object);
    entry.container = PyRef::Borrow(name);
    entry.items.push_back({PyRef{}, std::move(value)});
}

void Watch::AddItems(PyObject* container, PyObject* ignored) {
    if (PyDict_Check(container)) {
        AddDictItems(Add(Kind::kDict, container), container, ignored);
        return;
    }
    if (PyAnySet_Check(container)) {
        Entry& entry = Add(Kind::kSet, container);
        ForEachElement(container, [&entry](PyObject* element) {
            entry.items.push_back({PyRef{}, PyRef::Borrow(element)});
            return true;
        });
        return;
    }
    if (!PyList_Check(container)) {
        ThrowTypeError("expected a dict, a list or a set, not %s", Py_TYPE(container)->tp_name);
    }
    Entry& entry = Add(Kind::kList, container);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(container); ++i) {
        entry.items.push_back({PyRef{}, PyRef::Borrow(PyList_GET_ITEM(container, i))});
    }
}

void Watch::AddElements(PyObject* iterable) {
    PyRef list = Check(PySequence_List(iterable));
    Entry& entry = Add(Kind::kElements, iterable);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
        entry.items.push_back({PyRef{}, PyRef::Borrow(PyList_GET_ITEM(list.get(), i))});
    }
}

void Watch::AddEntry(PyObject* dict, PyObject* key) {
    if (!PyDict_Check(dict)) ThrowTypeError("expected a dict, not %s", Py_TYPE(dict)->tp_name);
    PyObject* value = PyDict_GetItemWithError(dict, key);
    if (value == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    Add(Kind::kEntry, dict).items.push_back({PyRef::Borrow(key), PyRef::Borrow(value)});
}

void Watch::AddItemsOfEntry(PyObject* dict, PyObject* key) {
    if (!PyDict_Check(dict)) ThrowTypeError("expected a dict, not %s", Py_TYPE(dict)->tp_name);
    PyObject* items = PyDict_GetItemWithError(dict, key);
    if (items == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    if (items == nullptr || !PyDict_Check(items)) ThrowTypeError("expected a dict at the key %R", key);
    Entry& entry = Add(Kind::kItemsOfEntry, dict);
    entry.container = PyRef::Borrow(key);
    AddDictItems(entry, items, Py_None);
}

void Watch::AddClass(PyObject* type) {
    if (!PyType_Check(type)) ThrowTypeError("expected a class, not %s", Py_TYPE(type)->tp_name);
    Entry& entry = Add(Kind::kClass, type);
    entry.container = Check(ClassDict(type));
    for (PyObject* part : HeadOf(type)) entry.items.push_back({PyRef{}, PyRef::Borrow(part)});
    AddDictItems(entry, entry.container.get(), Py_None);
}

void Watch::AddFunction(PyObject* function) {
    if (!PyFunction_Check(function)) ThrowTypeError("expected a function, not %s", Py_TYPE(function)->tp_name);
    Entry& entry = Add(Kind::kFunction, function);
    ForEachPart(function, [&entry](size_t, PyObject* part) {
        entry.items.push_back({PyRef{}, PyRef::Borrow(part)});
        return true;
    });
}

void Watch::AddData(PyObject* object) { Add(Kind::kData, object).data = BufferOf(object); }

void Watch::AddArray(PyObject* array) { Add(Kind::kArray, array).flags = FlagsOf(array); }

int Watch::FlagsOf(PyObject* array) {
    const Array& a = Arg<Array>::Get(array, "array");
    ArrayNode* node = a.body()->node();
    if (node == nullptr) return 0;                             // no graph knows it, as of most arguments
    BackpropId id = internal::GetBackpropId(a, std::nullopt);  // once: each call of a plan comes here for each array
    if ((node->mask() & id.mask()) == 0) return 0;
    bool required = node->IsGradRequired(id);
    bool is_recorded = (internal::GetRecordMask(a) & id.mask()) != 0;
    bool is_chained = node->creator() != nullptr && (node->creator()->mask() & id.mask()) != 0;
    return (required ? 1 : 0) | (is_recorded ? 2 : 0) | (is_chained ? 4 : 0) | (required && node->GetGrad(id) ? 8 : 0);
}

PyRef Watch::FormOf(PyObject* array) {
    const Array& a = Arg<Array>::Get(array, "array");
    // There are as many strides as there are sizes, so that no two forms read alike.
    SmallVector<int64_t, 18> form;
    form.push_back(reinterpret_cast<intptr_t>(&a.device()));
    form.push_back(static_cast<int64_t>(a.dtype()));
    for (int64_t n : a.shape()) form.push_back(n);
    for (int64_t n : a.strides()) form.push_back(n);
    return Check(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(form.data()),
                                           static_cast<Py_ssize_t>(form.size() * sizeof(int64_t))));
}

bool Watch::IsSame(const Entry& entry) {
    switch (entry.kind) {
        case Kind::kAttributes: {
            PyObject* object = entry.object.get();
            if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != entry.items[0].key.get()) return false;
            PyRef own{PyObject_GenericGetDict(object, nullptr)};
            return own.get() == entry.container.get() && HasItems(entry, own.get(), 1);
        }
        case Kind::kClass: {
            PyObject* type = entry.object.get();
            std::array<PyObject*, 4> head = HeadOf(type);
            for (size_t i = 0; i < head.size(); ++i) {
                if (!IsSameValue(head[i], entry.items[i].value.get())) return false;
            }
            unsigned int version = VersionOf(type);
            if (version != 0 && version == entry.version) return true;
            if (!HasItems(entry, entry.container.get(), head.size())) return false;
            entry.version = version;
            return true;
        }
        case Kind::kMember: {
            PyRef value{PyObject_GetAttr(entry.object.get(), entry.container.get())};
            if (!value) PyErr_Clear();
            return IsSameValue(value.get(), entry.items[0].value.get());
        }
        case Kind::kSet:
            return HasElements(entry, entry.object.get());
        case Kind::kElements:
            return Gives(entry, entry.object.get());
        case Kind::kDict:
            return HasItems(entry, entry.object.get(), 0);
        case Kind::kItemsOfEntry: {
            PyObject* items = PyDict_GetItemWithError(entry.object.get(), entry.container.get());
            if (items == nullptr) PyErr_Clear();
            return items != nullptr && PyDict_Check(items) && HasItems(entry, items, 0);
        }
        case Kind::kList: {
            PyObject* list = entry.object.get();
            if (static_cast<size_t>(PyList_GET_SIZE(list)) != entry.items.size()) return false;
            for (size_t i = 0; i < entry.items.size(); ++i) {
                if (!IsSameValue(PyList_GET_ITEM(list, i), entry.items[i].value.get())) return false;
            }
            return true;
        }
        case Kind::kEntry: {
            const Item& item = entry.items[0];
            PyObject* value = PyDict_GetItemWithError(entry.object.get(), item.key.get());
            if (value == nullptr) PyErr_Clear();
            return IsSameValue(value, item.value.get());
        }
        case Kind::kFunction:
            // The closure, which says how many cells there are, comes before them.
            return ForEachPart(entry.object.get(), [&entry](size_t i, PyObject* part) {
                return IsSameValue(part, entry.items[i].value.get());
            });
        case Kind::kArray:
            return FlagsOf(entry.object.get()) == entry.flags;
        case Kind::kData:
            try {
                return BufferOf(entry.object.get()) == entry.data;
            } catch (const PythonError&) {  // it is no longer contiguous
                PyErr_Clear();
                return false;
            }
    }
    return false;
}

// Whether the items from `first` on are those of a dict, in order.
bool Watch::HasItems(const Entry& entry, PyObject* dict, size_t first) {
    if (static_cast<size_t>(PyDict_GET_SIZE(dict)) != entry.items.size() - first) return false;
    PyObject* key;
    PyObject* value;
    Py_ssize_t position = 0;
    for (size_t i = first; PyDict_Next(dict, &position, &key, &value) != 0; ++i) {
        const Item& item = entry.items[i];
        if (key != item.key.get()) return false;
        if (item.value && !IsSameValue(value, item.value.get())) return false;
    }
    return true;
}

// Whether the items are the elements of a set, in order: a program may depend on the order.
bool Watch::HasElements(const Entry& entry, PyObject* set) {
    if (static_cast<size_t>(PySet_GET_SIZE(set)) != entry.items.size()) return false;
    size_t i = 0;
    return ForEachElement(set, [&entry, &i](PyObject* element) {
        return i < entry.items.size() && IsSameValue(element, entry.items[i++].value.get());
    });
}

// Whether iteration gives the items, in order.
bool Watch::Gives(const Entry& entry, PyObject* iterable) {
    PyRef iterator{PyObject_GetIter(iterable)};
    size_t i = 0;
    while (iterator) {
        PyRef element{PyIter_Next(iterator.get())};
        if (!element) break;
        if (i == entry.items.size() || !IsSameValue(element.get(), entry.items[i].value.get())) return false;
        ++i;
    }
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    return i == entry.items.size();
}

int64_t Watch::FindChange() const {
    for (size_t i = 0; i < entries_.size(); ++i) {
        if (!IsSame(entries_[i])) return static_cast<int64_t>(i);
    }
    return -1;
}

std::vector<int64_t> Watch::FindChanges() const {
    std::vector<int64_t> changed;
    for (size_t i = 0; i < entries_.size(); ++i) {
        if (!IsSame(entries_[i])) changed.push_back(static_cast<int64_t>(i));
    }
    return changed;
}

}  // namespace chainerx::python
