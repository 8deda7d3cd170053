// Streams of devices.

#include "chainerx/python/stream.h"

#include <optional>
#include <utility>

#include "chainerx/core/blocking.h"
#include "chainerx/core/error.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/docs/stream.h"
#include "chainerx/python/object.h"

namespace chainerx::python {

template <>
struct Arg<Stream> {
    static std::string Type() { return "Stream"; }
    static Stream& Get(PyObject* o, const char* name) {
        return *ValueArg<StreamRef>(o, name, "chainerx.Stream").stream;
    }
};

PyObject* ToPython(StreamRef stream) { return MakeObject(std::move(stream)).release(); }

namespace {

void ReleaseOwner(PyObject* owner) {
    if (Py_IsInitialized() == 0) return;
    GilScope gil;
    Py_DECREF(owner);
}

StreamRef NewStream(Device& device, const std::optional<int64_t>& ptr, PyObject* owner) {
    if (!ptr.has_value()) return {device.MakeStream()};
    return {device.GetDefaultStream()->Wrap(static_cast<uintptr_t>(*ptr), {Py_NewRef(owner), &ReleaseOwner})};
}

Device& GetStreamDevice(Stream& self) { return self.device(); }
int64_t GetStreamPointer(Stream& self) { return static_cast<int64_t>(self.handle()); }
bool IsStreamDone(Stream& self) { return self.IsDone(); }
void SynchronizeStream(Stream& self) {
    BlockingScope blocking;
    self.Synchronize();
}
void WaitForStream(Stream& self, Stream& other) { self.WaitFor(other); }
PyRef EnterStream(PyObject* self) {
    EnterStream(ValueOf<StreamRef>(self).stream);
    return PyRef::Borrow(self);
}
void ExitStream(Stream& self, PyObject*, PyObject*, PyObject*) { LeaveStream(StreamPtr{&self}); }

bool IsSameStream(const StreamRef& a, const StreamRef& b) {
    return &a.stream->device() == &b.stream->device() && a.stream->handle() == b.stream->handle();
}
Py_hash_t HashStream(const StreamRef& self) {
    auto device = reinterpret_cast<Py_hash_t>(&self.stream->device());
    return (device >> 4) ^ (static_cast<Py_hash_t>(self.stream->handle()) >> 4);
}
std::string StreamText(const StreamRef& self) {
    const Stream& stream = *self.stream;
    return internal::Concat("<Stream of ", stream.device().name(), stream.handle() == 0 ? ", the default one>" : ">");
}

}  // namespace

void AddStreams(PyObject* module) {
    Class<StreamRef>{"Stream", docs::kStream}
            .Init<&NewStream>("device=None, ptr=None, owner=None")
            .Property<&GetStreamDevice>("device", "The :class:`~chainerx.Device`.")
            .Property<&GetStreamPointer>("ptr", docs::kStreamPointer)
            .Property<&IsStreamDone>("done", docs::kStreamDone)
            .Method<&SynchronizeStream>("synchronize", "self", docs::kStreamSynchronize)
            .Method<&WaitForStream>("wait", "self, stream", docs::kStreamWait)
            .Method<&EnterStream>("__enter__", "self", "Makes it the thread's current stream of its device.")
            .Method<&ExitStream>("__exit__", "self, exc_type=None, exc_value=None, traceback=None",
                                 "Makes the stream current that was so before.")
            .Text<&StreamText>()
            .Identity<&IsSameStream, &HashStream>()
            .Add(module);
}

}  // namespace chainerx::python
