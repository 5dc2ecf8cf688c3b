// A library in C++ by PyTorch's stable headers, with their conversions of every type that they have.

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/version.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using torch::stable::Tensor;

#ifndef NAMESPACE
#define NAMESPACE cpp
#endif

static Tensor axpy(const Tensor &x, const Tensor &y, double a) {
    STD_TORCH_CHECK(x.dim() == y.dim() && x.numel() == y.numel(), "sizes differ: ", x.numel(), " and ", y.numel());
    Tensor out = torch::stable::empty_like(x);
    auto from = static_cast<const double *>(x.const_data_ptr()), add = static_cast<const double *>(y.const_data_ptr());
    auto to = static_cast<double *>(out.mutable_data_ptr());
    torch::stable::parallel_for(0, x.numel(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++)
            to[i] = a * from[i] + add[i];
    });
    return out;
}

static Tensor scale_(Tensor self, double factor) {
    auto to = static_cast<double *>(self.mutable_data_ptr());
    for (int64_t i = 0; i < self.numel(); i++)
        to[i] *= factor;
    return self;
}

static Tensor first_rows(Tensor self, int64_t rows) { return torch::stable::narrow(self, 0, 0, rows); }

static std::tuple<std::vector<Tensor>, int64_t> reversed(std::vector<Tensor> all) {
    return {std::vector<Tensor>(all.rbegin(), all.rend()), static_cast<int64_t>(all.size())};
}

static std::string describe(std::optional<Tensor> x, std::optional<int64_t> i, std::optional<double> f, std::optional<bool> b,
                            std::optional<std::string> s, std::vector<int64_t> l, torch::headeronly::ScalarType d,
                            torch::stable::Device at) {
    std::string text = x ? "tensor of " + std::to_string(x->numel()) : "no tensor";
    text += i ? ", " + std::to_string(*i) : ", no int";
    text += f ? ", " + std::to_string(*f) : ", no float";
    text += b ? (*b ? ", true" : ", false") : ", no bool";
    text += ", " + s.value_or("no str") + ", [";
    for (auto element : l)
        text += std::to_string(element) + ";";
    text += std::string("], ") + torch::headeronly::toString(d) + (at.is_cpu() ? ", cpu " : ", other ");
    return text + std::to_string(at.index());
}

// What the headers make of operators of `aten`.
static Tensor through_aten(Tensor x) {
    Tensor y = torch::stable::transpose(torch::stable::clone(x), 0, 1);
    y = torch::stable::contiguous(torch::stable::subtract(y, torch::stable::new_zeros(y, {1}), 1.0));
    torch::stable::fill_(torch::stable::narrow(y, 0, 0, 1), 9.0);
    y = torch::stable::pad(torch::stable::amax(y, 1, false), {1, 0}, "constant", -1.0);
    return torch::stable::reshape(torch::stable::sum(y, std::nullopt, true), {1});
}

// The numbers for which the host's are not those of the headers, which are PyTorch's own.
static std::string other_numbers() {
    namespace detail = torch::stable::detail;
    std::string others;
    auto compare = [&](auto all, const char *kind) {
        for (auto one : all) {
            auto there = detail::to<int32_t>(detail::from(one));
            if (there != static_cast<int32_t>(one) || detail::to<decltype(one)>(detail::from(one)) != one)
                others += std::string(kind) + " " + std::to_string(static_cast<int32_t>(one)) + " is " + std::to_string(there) + "; ";
        }
    };
    using torch::headeronly::DeviceType, torch::headeronly::Layout, torch::headeronly::MemoryFormat, torch::headeronly::ScalarType;
    compare(std::vector{ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long, ScalarType::Half,
                        ScalarType::Float, ScalarType::Double, ScalarType::ComplexHalf, ScalarType::ComplexFloat,
                        ScalarType::ComplexDouble, ScalarType::Bool, ScalarType::BFloat16, ScalarType::Float8_e5m2,
                        ScalarType::Float8_e4m3fn, ScalarType::Float8_e5m2fnuz, ScalarType::Float8_e4m3fnuz, ScalarType::UInt16,
                        ScalarType::UInt32, ScalarType::UInt64},
            "dtype");
    compare(std::vector{DeviceType::CPU, DeviceType::CUDA, DeviceType::Meta, DeviceType::XPU, DeviceType::MPS, DeviceType::PrivateUse1},
            "device type");
    compare(std::vector{Layout::Strided, Layout::Sparse, Layout::SparseCsr, Layout::SparseCsc, Layout::SparseBsr, Layout::SparseBsc,
                        Layout::Mkldnn, Layout::Jagged},
            "layout");
    compare(std::vector{MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d},
            "memory format");
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_11_0
    compare(std::vector{ScalarType::Float8_e8m0fnu, ScalarType::Float4_e2m1fn_x2}, "dtype");
#endif
    return others;
}

// Takes and returns what the conversions of lists, formats and layouts make of it. They return no list of bools.
static std::tuple<std::vector<double>, std::string, std::vector<std::string>, std::vector<std::optional<Tensor>>,
                  std::optional<std::vector<int64_t>>, torch::headeronly::Layout, torch::headeronly::MemoryFormat>
    passed(std::vector<double> f, std::vector<bool> b, std::vector<std::string> s, std::vector<std::optional<Tensor>> t,
           std::optional<std::vector<int64_t>> i, torch::headeronly::Layout l, torch::headeronly::MemoryFormat m) {
    std::string bits;
    for (bool bit : b)
        bits += bit ? "1" : "0";
    return {f, bits, s, t, i, l, m};
}

// The operators of the headers that `through_aten` does not call: [0, 1, 2, 3, 4, 5] becomes one number.
static Tensor more_of_aten(Tensor x) {
    using torch::headeronly::ScalarType;
    namespace stable = torch::stable;
    Tensor grid = stable::view(x, {2, 3});
    Tensor square = stable::matmul(grid, stable::transpose(grid, 0, 1)); // [[5, 14], [14, 50]]
    Tensor row = stable::squeeze(stable::unsqueeze(stable::select(square, 0, 1), 0), 0);
    Tensor out = stable::empty({1}, ScalarType::Double);
    std::vector<int64_t> first{0};
    stable::sum_out(out, stable::flatten(square), torch::headeronly::IntHeaderOnlyArrayRef(first), true); // [83]
    Tensor all = stable::full({2}, 7.0, ScalarType::Double);
    Tensor front = stable::narrow(all, 0, 0, 1);
    stable::copy_(front, out);                          // [83, 7]
    all = stable::subtract(all, row);                   // [69, -43]
    Tensor narrow = stable::to(all, ScalarType::Float); // and back
    narrow = stable::to(narrow, ScalarType::Double, std::nullopt, std::nullopt, std::nullopt, false, true);
#if TORCH_VERSION_MINOR >= 15
    auto [values, order] = stable::sort(narrow);                                                // [-43, 69], [1, 0]
    auto again = std::get<1>(stable::sort(narrow, std::optional<bool>(true), 0, true));                             // [0, 1]
    Tensor bits = stable::bitwise_or(stable::bitwise_left_shift(order, order), stable::bitwise_and(again, order)); // [2, 0]
    STD_TORCH_CHECK(!stable::is_pinned(bits), "no memory is pinned");
    bits = stable::bitwise_right_shift(bits, order); // [1, 0]
    narrow = stable::index_select(values, 0, bits);  // [69, -43]
    narrow = stable::view(stable::view(narrow, ScalarType::Long), ScalarType::Double);
    narrow = stable::permute(stable::floor_divide(stable::view(narrow, {1, 2}), out), {1, 0}); // [[0], [-1]]
    narrow = stable::subtract(all, stable::flatten(narrow)); // [69, -42]
#endif
    stable::zero_(row);
    return stable::sum(stable::subtract(narrow, row));
}

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_11_0
static int64_t freed = 0;

// Lends memory with a function that captures what it needs, and with one that does not.
static Tensor lend(int64_t count) {
    torch::stable::Device cpu(torch::headeronly::DeviceType::CPU);
    auto of = [&](auto free) {
        auto numbers = new double[count]();
        return torch::stable::from_blob(numbers, {count}, {1}, cpu, torch::headeronly::ScalarType::Double, free);
    };
    of([](void *numbers) { delete[] static_cast<double *>(numbers), freed++; });
    return of([count](void *numbers) { delete[] static_cast<double *>(numbers), freed += count; });
}
#else
static int64_t freed = 4;
static Tensor lend(int64_t count) { return torch::stable::full({count}, 0.0, torch::headeronly::ScalarType::Double); }
#endif

static int64_t count_freed() { return freed; }

static std::optional<Tensor> maybe(bool yes, const Tensor &x) { return yes ? std::optional<Tensor>(x) : std::nullopt; }

// A base that `std::exception` is not the first of, and that is shared.
struct Label {
    virtual ~Label() = default;
    int number = 3;
};
struct Shared : virtual std::runtime_error {
    explicit Shared(const char *text) : std::runtime_error(text) {}
};
struct Several : Label, Shared {
    Several() : std::runtime_error("several bases"), Shared("several bases") {}
};

static void throw_(int64_t which) {
    switch (which) {
    case 0: throw std::invalid_argument("not that");
    case 1: throw Several();
    case 2: throw 7;
    case 3: {
        std::exception_ptr kept;
        try {
            throw std::out_of_range("kept");
        } catch (...) {
            kept = std::current_exception();
        }
        std::rethrow_exception(kept);
    }
    case 4: AOTI_TORCH_CHECK(which < 0, "checked");
    default: {
        // What the host refuses comes back as a C++ exception, which may be caught.
        try {
            StableIValue none[1];
            STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("cpp::missing", "", none, TORCH_ABI_VERSION));
        } catch (const std::exception &error) {
            throw std::runtime_error(std::string("caught: ") + error.what());
        }
    }
    }
}

// How many exceptions are on their way: none, when all that were caught are counted as caught.
static int64_t uncaught() { return std::uncaught_exceptions(); }

static Tensor refused_(Tensor x) {
    torch::stable::fill_(torch::stable::narrow(x, 0, 5, 5), 1.0);
    return x;
}

STABLE_TORCH_LIBRARY(NAMESPACE, m) {
    m.def("axpy(Tensor x, Tensor y, float a=2.) -> Tensor");
    m.def("scale_(Tensor(a!) self, float factor) -> Tensor(a!)");
    m.def("first_rows(Tensor(a) self, int rows) -> Tensor(a)");
    m.def("reversed(Tensor[] all) -> (Tensor[], int)");
    m.def("describe(Tensor? x, int? i, float? f, bool? b, str? s, int[] l, ScalarType d, Device at) -> str");
    m.def("through_aten(Tensor x) -> Tensor");
    m.def("maybe(bool yes, Tensor x) -> Tensor?");
    m.def("other_numbers() -> str");
    m.def("passed(float[] f, bool[] b, str[] s, Tensor?[] t, int[]? i, Layout l, MemoryFormat m) -> "
          "(float[], str, str[], Tensor?[], int[]?, Layout, MemoryFormat)");
    m.def("more_of_aten(Tensor x) -> Tensor");
    m.def("lend(int count) -> Tensor");
    m.def("count_freed() -> int");
    m.def("throw_(int which) -> ()");
    m.def("uncaught() -> int");
    m.def("refused_(Tensor(a!) x) -> Tensor(a!)");
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
    m.def("tagged(Tensor x) -> Tensor", {at::Tag::pointwise, at::Tag::core});
#else
    m.def("tagged(Tensor x) -> Tensor");
#endif
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
    m.set_python_module("somewhere.fake");
#endif
}

STABLE_TORCH_LIBRARY_FRAGMENT(NAMESPACE, m) { m.def("version() -> int"); }

static int64_t version() { return static_cast<int64_t>(TORCH_FEATURE_VERSION >> 48); }

STABLE_TORCH_LIBRARY_IMPL(NAMESPACE, CPU, m) {
    m.impl("axpy", TORCH_BOX(&axpy));
    m.impl("scale_", TORCH_BOX(&scale_));
}

STABLE_TORCH_LIBRARY_IMPL(NAMESPACE, CompositeImplicitAutograd, m) { m.impl("through_aten", TORCH_BOX(&through_aten)); }

STABLE_TORCH_LIBRARY_IMPL(NAMESPACE, CompositeExplicitAutograd, m) {
    m.impl("first_rows", TORCH_BOX(&first_rows));
    m.impl("reversed", TORCH_BOX(&reversed));
    m.impl("describe", TORCH_BOX(&describe));
    m.impl("maybe", TORCH_BOX(&maybe));
    m.impl("other_numbers", TORCH_BOX(&other_numbers));
    m.impl("passed", TORCH_BOX(&passed));
    m.impl("more_of_aten", TORCH_BOX(&more_of_aten));
    m.impl("lend", TORCH_BOX(&lend));
    m.impl("count_freed", TORCH_BOX(&count_freed));
    m.impl("throw_", TORCH_BOX(&throw_));
    m.impl("uncaught", TORCH_BOX(&uncaught));
    m.impl("refused_", TORCH_BOX(&refused_));
    m.impl("version", TORCH_BOX(&version));
}
