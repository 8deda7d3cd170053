#include "chainerx/python/object.h"

#include <structmember.h>

namespace chainerx::python {

FastArguments::FastArguments(PyObject* args, PyObject* kwargs) : positional_count_{PyTuple_GET_SIZE(args)} {
    for (Py_ssize_t i = 0; i < positional_count_; ++i) kept_.push_back(PyRef::Borrow(PyTuple_GET_ITEM(args, i)));
    if (kwargs != nullptr) {
        names_ = Check(PyTuple_New(PyDict_GET_SIZE(kwargs)));
        PyObject* name = nullptr;
        PyObject* value = nullptr;
        Py_ssize_t i = 0;
        for (Py_ssize_t position = 0; PyDict_Next(kwargs, &position, &name, &value) != 0;) {
            if (!PyUnicode_Check(name)) ThrowTypeError("keywords must be strings");
            PyTuple_SET_ITEM(names_.get(), i++, Py_NewRef(name));
            kept_.push_back(PyRef::Borrow(value));
        }
    }
    for (const PyRef& value : kept_) values_.push_back(value.get());
}

TypeParts::TypeParts(const char* name, const char* doc)
    : name_{name}, doc_{doc}, methods_{new std::vector<PyMethodDef>}, properties_{new std::vector<PyGetSetDef>} {}

void TypeParts::AddMethod(const Binding& binding, const char* name, const char* signature, const char* doc) {
    binding.signature = Signature{name, signature, binding.arity};
    methods_->push_back(
            MakeDef(name, binding.method, MethodSignature(binding.signature.text().c_str()), FormatDoc(doc)));
    Register(name, signature, binding.types);
}

void TypeParts::AddProperty(const Binding& binding, const char* name, getter get, const char* doc) {
    binding.signature = Signature{name, "self", binding.arity};
    properties_->push_back({name, get, nullptr, doc, nullptr});
    Register(name, "self", binding.types);
}

void TypeParts::Register(const char* name, const char* signature, std::vector<std::string> (*types)()) {
    Functions().push_back({name_, nullptr, {name, signature, "", nullptr, true}, types});
}

PyTypeObject* TypeParts::Make(PyObject* module, size_t object_size) {
    methods_->push_back({nullptr, nullptr, 0, nullptr});
    properties_->push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
    auto* members = new PyMemberDef[2]{
            {"__weaklistoffset__", T_PYSSIZET, offsetof(ObjectHead, weakrefs), READONLY, nullptr}, {}};
    std::string doc = signature_ + FormatDoc(doc_);
    AddSlot(Py_tp_doc, doc.data());
    AddSlot(Py_tp_methods, methods_->data());
    AddSlot(Py_tp_getset, properties_->data());
    AddSlot(Py_tp_members, members);
    AddSlot(0, nullptr);
    auto* full_name = new std::string{std::string{"chainerx._core."} + name_};
    PyType_Spec spec = {full_name->c_str(), static_cast<int>(object_size), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        slots_.data()};
    PyRef type = Check(PyType_FromSpec(&spec));
    if (PyModule_AddObjectRef(module, name_, type.get()) < 0) throw PythonError{};
    return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace chainerx::python
