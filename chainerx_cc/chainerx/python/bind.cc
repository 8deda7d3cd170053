#include "chainerx/python/bind.h"

#include <algorithm>
#include <cstring>

#include "chainerx/core/error.h"
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

Signature::Signature() = default;
Signature::~Signature() = default;
Signature& Signature::operator=(Signature&&) noexcept = default;

Signature::Signature(const char* name, const char* text, int arity) : name_{name} {
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
        names_.push_back(item.substr(item[0] == '*' ? 1 : 0, eq));
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
    // Calls would read missing parameters.
    if (size() != arity) {
        throw ChainerxError{name, ": the signature has ", size(), " arguments, the C++ function has ", arity};
    }
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

PyRef Signature::Pack(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) const {
    if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) > 0) ThrowTypeError("%s() takes no keyword arguments", name_);
    PyRef all = Check(PyTuple_New(nargs));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(all.get(), i, Py_NewRef(args[i]));
    return all;
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

std::vector<std::string> TextsOf(const TypeText* types, int n) {
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) texts.push_back(types[i]());
    return texts;
}

std::vector<FunctionInfo>& Functions() {
    static std::vector<FunctionInfo> functions;
    return functions;
}
std::vector<PyMethodDef>& FunctionDefs() {
    static std::vector<PyMethodDef> defs;
    return defs;
}
std::map<std::string, std::vector<PyMethodDef>>& SubmoduleDefs() {
    static std::map<std::string, std::vector<PyMethodDef>> defs;
    return defs;
}
std::vector<PyMethodDef>& MethodDefs() {
    static std::vector<PyMethodDef> defs;
    return defs;
}

PyMethodDef MakeDef(const char* name, FastCall function, const std::string& signature, const std::string& text) {
    std::string* doc = Keep(std::string{name} + "(" + signature + ")\n--\n\n" + text);
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
            doc->c_str()};
}

std::string MethodSignature(const char* signature) {
    const char* comma = std::strchr(signature, ',');
    return std::string{"$self"} + (comma == nullptr ? "" : comma);
}

void AddFunction(const FunctionInfo& info, FastCall function, FastCall method) {
    const Routine& r = info.routine;
    if (function != nullptr) {
        const char* dot = std::strchr(r.name, '.');
        const char* name = dot == nullptr ? r.name : dot + 1;
        (dot == nullptr ? FunctionDefs() : SubmoduleDefs()[std::string(r.name, dot)])
                .push_back(MakeDef(name, function, r.signature, FormatDoc(r.doc)));
    }
    if (method != nullptr) {
        // A function has the array among its arguments; a pure method does not.
        MethodDefs().push_back(MakeDef(r.name, method, MethodSignature(r.signature),
                                       function == nullptr ? FormatDoc(r.doc) : FormatMethodDoc(r.doc)));
    }
    Functions().push_back(info);
    Functions().back().routine.doc = nullptr;
}

void AddRoutine(const Binding& binding, const char* family, Routine routine) {
    binding.signature = Signature{routine.name, routine.signature, binding.arity};
    routine.signature = binding.signature.text().c_str();
    bool is_variadic = binding.variadic != nullptr && binding.signature.is_variadic();
    AddFunction({nullptr, family, routine, binding.types}, is_variadic ? binding.variadic : binding.function,
                routine.is_method ? binding.method : nullptr);
}

void AddPureMethod(const Binding& binding, const Routine& routine) {
    binding.signature = Signature{routine.name, routine.signature, binding.arity};
    AddFunction({"ndarray", nullptr, routine, binding.types}, nullptr, binding.method);
}

}  // namespace chainerx::python
