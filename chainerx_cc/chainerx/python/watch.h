#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/python/common.h"

namespace chainerx::python {

// Notices changes of Python objects: of what a function read when it was recorded. It compares the objects that others
// refer to, by identity; numbers and texts by value. It does not look into the objects found there: each of them is
// watched by itself.
class Watch {
public:
    // All attributes of an object, but for the values of some, and its class.
    void AddAttributes(PyObject* object, PyObject* ignored);
    // One attribute that is no item of the dict of attributes, such as the name of a function.
    void AddMember(PyObject* object, PyObject* name);
    // The items of a dict, a list or a set.
    void AddItems(PyObject* container, PyObject* ignored);
    // What an iterable gives, in order.
    void AddElements(PyObject* iterable);
    // One entry of a dict, which it may lack.
    void AddEntry(PyObject* dict, PyObject* key);
    // The items of the dict that is the entry of a dict. Another dict may take its place.
    void AddItemsOfEntry(PyObject* dict, PyObject* key);
    // What a class defines itself, its name and those that it derives from.
    void AddClass(PyObject* type);
    // The code, defaults and closure of a function, and what the cells of the closure have.
    void AddFunction(PyObject* function);
    // The elements of an object with a contiguous buffer, such as an array of NumPy.
    void AddData(PyObject* object);
    // Whether an array has a gradient and needs one.
    void AddArray(PyObject* array);
    // What is compared of an array: 1 if it needs a gradient, 2 if backward reaches it, 4 if a function made it in a
    // graph, 8 if it has a gradient.
    static int FlagsOf(PyObject* array);
    // The shape, strides, dtype and device of an array, as bytes: attributes take five times as long.
    static PyRef FormOf(PyObject* array);

    // The number of the first thing that has changed, in the order in which they were added; -1 if none has.
    int64_t FindChange() const;
    std::vector<int64_t> FindChanges() const;

private:
    enum class Kind : uint8_t {
        kAttributes,
        kMember,
        kDict,
        kList,
        kSet,
        kElements,
        kEntry,
        kItemsOfEntry,
        kClass,
        kFunction,
        kArray,
        kData
    };
    struct Item {
        PyRef key;
        PyRef value;  // none: any value
    };
    struct Entry {
        Kind kind;
        PyRef object;
        PyRef container;  // the dict of attributes or of a class, the key of an entry, a name
        std::vector<Item> items;
        int flags;                         // of an array
        mutable unsigned int version = 0;  // of a class when it was last the same
        std::string data{};                // of a buffer
    };

    Entry& Add(Kind kind, PyObject* object);
    static void AddDictItems(Entry& entry, PyObject* dict, PyObject* ignored);
    static bool HasItems(const Entry& entry, PyObject* dict, size_t first);
    static bool HasElements(const Entry& entry, PyObject* set);
    static bool Gives(const Entry& entry, PyObject* iterable);
    static bool IsSame(const Entry& entry);

    std::vector<Entry> entries_;
};

}  // namespace chainerx::python
