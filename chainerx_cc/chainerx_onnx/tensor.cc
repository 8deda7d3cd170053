#include "chainerx_onnx/tensor.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/open_file.h"

namespace chainerx::onnx {
namespace {

struct TypePair {
    ElementType element_type;
    Dtype dtype;
};
constexpr TypePair kTypes[] = {
        {ElementType::kBool, Dtype::kBool},         {ElementType::kInt8, Dtype::kInt8},
        {ElementType::kInt16, Dtype::kInt16},       {ElementType::kInt32, Dtype::kInt32},
        {ElementType::kInt64, Dtype::kInt64},       {ElementType::kUInt8, Dtype::kUInt8},
        {ElementType::kUInt16, Dtype::kUInt16},     {ElementType::kUInt32, Dtype::kUInt32},
        {ElementType::kUInt64, Dtype::kUInt64},     {ElementType::kFloat16, Dtype::kFloat16},
        {ElementType::kFloat32, Dtype::kFloat32},   {ElementType::kFloat64, Dtype::kFloat64},
        {ElementType::kBfloat16, Dtype::kBfloat16},
};

// ONNX's names of the element types by their numbers.
constexpr const char* kTypeNames[] = {
        "undefined", "float",      "uint8",      "int8",         "uint16",         "int16",      "int32",
        "int64",     "string",     "bool",       "float16",      "double",         "uint32",     "uint64",
        "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
        "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2",
};

int64_t PhysicalMemory() {
    static const int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    return bytes;
}

int64_t ParseNumber(const std::string& text, const char* what) {
    int64_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9' || value > (INT64_MAX - 9) / 10) throw ModelError{"its ", what, " is '", text, "'"};
        value = value * 10 + (c - '0');
    }
    return value;
}

// A part of a file of external data.
struct ExternalData {
    OpenFile file;
    int64_t offset;
};

ExternalData OpenExternal(const TensorMessage& message, const std::string& folder, int64_t expected) {
    auto entry = [&](const char* key) {
        auto it = message.external_data.find(key);
        return it == message.external_data.end() ? std::string{} : it->second;
    };
    std::string location = entry("location");
    if (folder.empty()) throw ModelError{"its data is in '", location, "', and a model in memory has no folder"};
    if (location.empty()) throw ModelError{"its data is in another file without a name"};
    int64_t offset = ParseNumber(entry("offset"), "offset");
    std::string length = entry("length");
    if (!length.empty() && ParseNumber(length, "length") != expected) {
        throw ModelError{"its data has ", length, " bytes, and ", expected, " belong to its shape"};
    }
    OpenFile file = OpenFile::Beneath(folder, location);
    if (offset > file.size() - expected) {
        throw ModelError{"its data is at ", offset, " of '", location, "', which has ", file.size(), " bytes"};
    }
    return {std::move(file), offset};
}

template <class T, class Values>
void CopyTyped(const Values& values, const Array& out) {
    if (static_cast<int64_t>(values.size()) != out.GetTotalSize()) {
        throw ModelError{"it has ",          values.size(),           " values, and ",
                         out.GetTotalSize(), " belong to its shape ", out.shape()};
    }
    T* p = out.data<T>();
    for (auto v : values) *p++ = static_cast<T>(v);
}

void CopyTypedData(const TensorMessage& message, const Array& out) {
    switch (out.dtype()) {
        case Dtype::kFloat32:
            return CopyTyped<float>(message.float_data, out);
        case Dtype::kFloat64:
            return CopyTyped<double>(message.double_data, out);
        case Dtype::kInt64:
            return CopyTyped<int64_t>(message.int64_data, out);
        case Dtype::kUInt32:
            return CopyTyped<uint32_t>(message.uint64_data, out);
        case Dtype::kUInt64:
            return CopyTyped<uint64_t>(message.uint64_data, out);
        case Dtype::kFloat16:
        case Dtype::kBfloat16:
            return CopyTyped<uint16_t>(message.int32_data, out);  // the bits of the numbers
        case Dtype::kBool:
            return CopyTyped<bool>(message.int32_data, out);
        default:
            return VisitDtype(out.dtype(), [&](auto tag) {
                using T = typename decltype(tag)::type;
                if constexpr (std::is_integral_v<T>) CopyTyped<T>(message.int32_data, out);
            });
    }
}

Array ReadUnnamed(const TensorMessage& message, const std::string& folder) {
    Dtype dtype = DtypeOf(message.data_type);
    Shape shape = CheckedShape(message.dims, GetItemSize(dtype));
    int64_t bytes = shape.GetTotalSize() * GetItemSize(dtype);
    // Memory is taken when the data is known to be there.
    std::optional<ExternalData> external;
    if (message.is_segment) throw ModelError{"it is a segment of a tensor, which is not supported"};
    if (message.is_external) {
        external.emplace(OpenExternal(message, folder, bytes));
    } else if (message.raw_data) {
        if (static_cast<int64_t>(message.raw_data->size()) != bytes) {
            throw ModelError{"it has ", message.raw_data->size(), " bytes, and ",
                             bytes,     " belong to its shape ",  shape};
        }
    } else {
        size_t items = message.float_data.size() + message.double_data.size() + message.int32_data.size() +
                       message.int64_data.size() + message.uint64_data.size();
        if (static_cast<int64_t>(items) != shape.GetTotalSize()) {
            throw ModelError{"it has ", items, " values, and ", shape.GetTotalSize(), " belong to its shape ", shape};
        }
    }
    Array out = Empty(shape, dtype, HostDevice());
    if (external) {
        external->file.Read(external->offset, out.raw_data(), bytes);
    } else if (message.raw_data) {
        if (bytes > 0) std::memcpy(out.raw_data(), message.raw_data->data(), bytes);
    } else {
        CopyTypedData(message, out);
        return out;
    }
    if (dtype == Dtype::kBool) {
        // Any byte but zero is true in a file.
        for (int64_t i = 0; i < bytes; ++i) out.raw_data()[i] = static_cast<char>(out.raw_data()[i] != 0);
    }
    return out;
}

// Of packed integers, the first of which are in the lowest bits of a byte.
template <class T>
Array Unpacked(const Array& packed, const Shape& shape, int bits, Dtype dtype) {
    Array out = Empty(shape, dtype, HostDevice());
    const uint8_t* from = packed.data<uint8_t>();
    T* to = out.data<T>();
    int per_byte = 8 / bits;
    for (int64_t i = 0; i < shape.GetTotalSize(); ++i) {
        auto high = static_cast<T>(from[i / per_byte] << (8 - bits - i % per_byte * bits));
        to[i] = static_cast<T>(high >> (8 - bits));  // with the sign
    }
    return out;
}

Array ReadUnnamedNarrow(const TensorMessage& message, const std::string& folder) {
    Shape shape = CheckedShape(message.dims, 1);
    int bits = NarrowBits(message.data_type);
    TensorMessage bytes = message;
    bytes.data_type = static_cast<int32_t>(ElementType::kUInt8);
    bytes.dims = {shape.GetTotalSize() / 8 * bits + (shape.GetTotalSize() % 8 * bits + 7) / 8};
    Array packed = ReadUnnamed(bytes, folder);
    auto type = static_cast<ElementType>(message.data_type);
    if (type == ElementType::kInt4 || type == ElementType::kInt2) {
        return Unpacked<int8_t>(packed, shape, bits, Dtype::kInt8);
    }
    return Unpacked<uint8_t>(packed, shape, bits, Dtype::kUInt8);
}

// Names the tensor in errors.
template <class Read>
auto ReadNamed(const TensorMessage& message, const std::string& folder, const Read& read) {
    try {
        return read(message, folder);
    } catch (const ModelError& error) {
        throw ModelError{"tensor '", message.name, "': ", error.what()};
    }
}

}  // namespace

Dtype DtypeOf(int32_t element_type) {
    for (const TypePair& pair : kTypes) {
        if (static_cast<int32_t>(pair.element_type) == element_type) return pair.dtype;
    }
    if (element_type < 0 || element_type >= static_cast<int32_t>(std::size(kTypeNames))) {
        throw ModelError{"there is no element type ", element_type};
    }
    throw ModelError{"the element type ", kTypeNames[element_type], " is not supported"};
}

int32_t ElementTypeOf(Dtype dtype) {
    for (const TypePair& pair : kTypes) {
        if (pair.dtype == dtype) return static_cast<int32_t>(pair.element_type);
    }
    return 0;
}

Shape CheckedShape(const std::vector<int64_t>& dims, int64_t item_size) {
    if (dims.size() > static_cast<size_t>(kMaxNdim)) throw ModelError{"it has ", dims.size(), " dimensions"};
    Shape shape{dims.begin(), dims.end()};
    int64_t bytes = item_size;
    bool is_empty = false;
    for (int64_t n : shape) {
        if (n < 0) throw ModelError{"the shape ", shape, " has a negative dimension"};
        is_empty = is_empty || n == 0;
        if (n != 0 && __builtin_mul_overflow(bytes, n, &bytes)) throw ModelError{"the shape ", shape, " overflows"};
    }
    if (!is_empty && bytes > PhysicalMemory()) {
        throw ModelError{"the shape ", shape, " needs ", bytes, " bytes, and this machine has ", PhysicalMemory()};
    }
    return shape;
}

Array ReadTensor(const TensorMessage& message, const std::string& folder) {
    return ReadNamed(message, folder, ReadUnnamed);
}

Value ReadValue(const TensorMessage& message, const std::string& folder, Device& device) {
    if (message.data_type != static_cast<int32_t>(ElementType::kString)) {
        return ToDevice(ReadTensor(message, folder), device);
    }
    return ReadNamed(message, folder, [](const TensorMessage& tensor, const std::string&) {
        Shape shape = CheckedShape(tensor.dims, 1);
        if (tensor.is_external || tensor.raw_data) throw ModelError{"strings are in the data of another type"};
        if (static_cast<int64_t>(tensor.strings.size()) != shape.GetTotalSize()) {
            throw ModelError{
                    "it has ", tensor.strings.size(), " strings, and ", shape.GetTotalSize(), " belong to its shape ",
                    shape};
        }
        return Value::Of(Strings{shape, tensor.strings});
    });
}

int NarrowBits(int32_t element_type) {
    switch (static_cast<ElementType>(element_type)) {
        case ElementType::kUInt4:
        case ElementType::kInt4:
            return 4;
        case ElementType::kUInt2:
        case ElementType::kInt2:
            return 2;
        default:
            return 0;
    }
}

Array UnpackIntegers(const Array& packed, const Shape& shape, int bits) {
    if (bits == 8) return Reshape(packed, shape);
    Array out = Unpacked<uint8_t>(AsContiguous(ToDevice(packed, HostDevice())), shape, bits, Dtype::kUInt8);
    return ToDevice(out, packed.device());
}

Array ReadNarrowTensor(const TensorMessage& message, const std::string& folder) {
    return ReadNamed(message, folder, ReadUnnamedNarrow);
}

Array ReadSparseTensor(const SparseTensorMessage& message, const std::string& folder) {
    const std::string& name = message.values.name;
    Array values = ReadTensor(message.values, folder);
    Array indices = ReadTensor(message.indices, folder);
    Shape shape = CheckedShape(message.dims, values.GetItemSize());
    int64_t count = values.GetTotalSize();
    int64_t width = indices.ndim() == 2 ? shape.ndim() : 1;
    if (indices.dtype() != Dtype::kInt64 || indices.GetTotalSize() != count * width) {
        throw ModelError{"sparse tensor '", name, "': wrong shape of indices"};
    }
    Array out = Zeros(shape, values.dtype(), HostDevice());
    int64_t item = values.GetItemSize();
    const int64_t* index = indices.data<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
        int64_t place = 0;
        for (int64_t d = 0; d < width; ++d) {
            int64_t n = indices.ndim() == 2 ? shape[d] : shape.GetTotalSize();
            int64_t at = index[i * width + d];
            if (at < 0 || at >= n) throw ModelError{"sparse tensor '", name, "': indices out of bounds"};
            place = place * n + at;
        }
        std::memcpy(out.raw_data() + place * item, values.raw_data() + i * item, item);
    }
    return out;
}

std::vector<int64_t> ReadInts(const Array& a) {
    Array host = AsContiguous(AsType(ToDevice(a, HostDevice()), Dtype::kInt64, false));
    return {host.data<int64_t>(), host.data<int64_t>() + host.GetTotalSize()};
}

Array IntsArray(const std::vector<int64_t>& values) {
    return FromHost(Shape{static_cast<int64_t>(values.size())}, Dtype::kInt64, values.data(), HostDevice());
}

Array FloatsArray(const std::vector<float>& values) {
    return FromHost(Shape{static_cast<int64_t>(values.size())}, Dtype::kFloat32, values.data(), HostDevice());
}

Device& HostDevice() { return GetDefaultContext().GetDevice("native:0"); }

}  // namespace chainerx::onnx
