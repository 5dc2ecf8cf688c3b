// A library in C++ by PyTorch's stable headers, with their conversions of every type that they have.

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

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
    m.impl("throw_", TORCH_BOX(&throw_));
    m.impl("uncaught", TORCH_BOX(&uncaught));
    m.impl("refused_", TORCH_BOX(&refused_));
    m.impl("version", TORCH_BOX(&version));
}
