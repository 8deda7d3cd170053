#include "chainerx/python/bind.h"

#include <algorithm>
#include <cstring>

#include "chainerx/python/doc.h"

namespace chainerx::python {
namespace {

// Kept as long as the process: Python points into them.
std::string* Keep(std::string s) { return new std::string{std::move(s)}; }

std::string Trim(const std::string& s) {
    size_t begin = s.find_first_not_of(' ');
    return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(' ') - begin + 1);
}

}  // namespace

Signature::Signature(const char* name, const char* text) : name_{name} {
    std::string rest = text;
    PyRef globals = Check(PyDict_New());
    size_t depth = 0;
    std::string item;
    auto add = [&] {
        item = Trim(item);
        if (item.empty()) return;
        size_t bar = item.find('|');
        if (bar != std::string::npos) {
            size_t end = std::min(item.find('='), item.size());
            std::string other = item.substr(bar + 1, end - bar - 1);
            spellings_.emplace_back(Check(PyUnicode_InternFromString(other.c_str())).release(), size());
            item.erase(bar, end - bar);
        }
        text_ += (text_.empty() ? "" : ", ") + item;
        size_t eq = item.find('=');
        names_.push_back(item.substr(0, eq));
        interned_.push_back(Check(PyUnicode_InternFromString(names_.back().c_str())).release());
        defaults_.push_back(eq == std::string::npos ? nullptr
                                                    : Check(PyRun_String(item.substr(eq + 1).c_str(), Py_eval_input,
                                                                         globals.get(), globals.get()))
                                                              .release());
        item.clear();
    };
    for (char c : rest) {
        if (c == ',' && depth == 0) {
            add();
            continue;
        }
        if (c == '(') ++depth;
        if (c == ')') --depth;
        item += c;
    }
    add();
}

void Signature::Parse(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                      PyObject** out) const {
    int n = size();
    int filled = 0;
    if (self != nullptr) out[filled++] = self;
    if (CHAINERX_UNLIKELY(nargs + filled > n)) {
        ThrowTypeError("%s() takes at most %d arguments (%zd given)", name_, n, nargs + filled);
    }
    for (Py_ssize_t i = 0; i < nargs; ++i) out[filled++] = args[i];
    for (int i = filled; i < n; ++i) out[i] = nullptr;
    if (kwnames != nullptr) PlaceKeywords(args + nargs, kwnames, out);
    for (int i = filled; i < n; ++i) {
        if (out[i] != nullptr) continue;
        out[i] = defaults_[i];
        if (CHAINERX_UNLIKELY(out[i] == nullptr)) {
            ThrowTypeError("%s() missing required argument '%s'", name_, arg_name(i));
        }
    }
}

int Signature::Find(PyObject* key) const {
    int i = 0;
    while (i < size() && interned_[i] != key) ++i;
    if (i < size()) return i;
    for (i = 0; i < size() && PyUnicode_Compare(interned_[i], key) != 0;) ++i;
    if (i < size()) return i;
    for (const auto& [spelling, position] : spellings_) {
        if (PyUnicode_Compare(spelling, key) == 0) return position;
    }
    return i;
}

void Signature::PlaceKeywords(PyObject* const* args, PyObject* kwnames, PyObject** out) const {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); ++k) {
        PyObject* key = PyTuple_GET_ITEM(kwnames, k);
        int i = Find(key);
        if (i == size()) ThrowTypeError("%s() got an unexpected keyword argument '%U'", name_, key);
        if (out[i] != nullptr) ThrowTypeError("%s() got multiple values for argument '%U'", name_, key);
        out[i] = args[k];
    }
}

std::vector<OpInfo>& Ops() {
    static std::vector<OpInfo> ops;
    return ops;
}
std::vector<PyMethodDef>& FunctionDefs() {
    static std::vector<PyMethodDef> defs;
    return defs;
}
std::vector<PyMethodDef>& LinalgDefs() {
    static std::vector<PyMethodDef> defs;
    return defs;
}
std::vector<PyMethodDef>& MethodDefs() {
    static std::vector<PyMethodDef> defs;
    return defs;
}

namespace {

void AddMethod(const OpInfo& info, PyCFunction method) {
    const char* comma = std::strchr(info.signature, ',');
    std::string rest = comma == nullptr ? "" : comma;
    // A function has the array among its arguments; what is only a method has not.
    std::string text = std::strncmp(info.signature, "self", 4) == 0 ? FormatDoc(info.doc) : FormatMethodDoc(info.doc);
    std::string* method_doc = Keep(std::string{info.name} + "($self" + rest + ")\n--\n\n" + text);
    MethodDefs().push_back({info.name, method, METH_FASTCALL | METH_KEYWORDS, method_doc->c_str()});
}

}  // namespace

void AddFunction(const OpInfo& info, PyCFunction function, PyCFunction method) {
    constexpr int kFlags = METH_FASTCALL | METH_KEYWORDS;
    const char* dot = std::strchr(info.name, '.');
    const char* name = dot == nullptr ? info.name : dot + 1;
    std::string* doc = Keep(std::string{name} + "(" + info.signature + ")\n--\n\n" + FormatDoc(info.doc));
    (dot == nullptr ? FunctionDefs() : LinalgDefs()).push_back({name, function, kFlags, doc->c_str()});
    if (method != nullptr) AddMethod(info, method);
    if (info.family == nullptr) return;
    Ops().push_back(info);
    Ops().back().doc = nullptr;
}

}  // namespace chainerx::python
