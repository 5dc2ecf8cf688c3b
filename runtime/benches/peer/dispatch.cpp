// The same cases as benches/dispatch.rs, through PyTorch's own C++ dispatcher. Built by benches/peer/build.sh against a stock
// wheel, as a program and as a shared object. Prints one line per case: name, minimum and median nanoseconds per call.
// With the argument `start`, `memory` or `spread` it does what the program of that name in benches/startup.sh does.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using at::Tensor;
using Clock = std::chrono::steady_clock;

namespace {

int64_t one(const Tensor&) { return 1; }
int64_t two(const Tensor&, const Tensor&) { return 2; }
int64_t four(const Tensor&, const Tensor&, const Tensor&, const Tensor&) { return 4; }
int64_t eight(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
              const Tensor&, int64_t i, int64_t, int64_t, int64_t) { return i; }
int64_t none(int64_t a, int64_t b) { return a ^ b; }
Tensor tensor(const Tensor& a, const Tensor&) { return a; }
int64_t list(at::TensorList a) { return static_cast<int64_t>(a.size()); }
void boxed_only(const c10::OperatorHandle&, torch::jit::Stack* stack) {
    torch::jit::drop(*stack, 2);
    torch::jit::push(*stack, int64_t{2});
}
void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::TESTING_ONLY_GenericWrapper), stack);
}
int64_t layered_autograd(c10::DispatchKeySet keys, const Tensor& a, const Tensor& b) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("peer::layered", "").typed<int64_t(const Tensor&, const Tensor&)>();
    at::AutoDispatchBelowAutograd below;
    return op.redispatch(keys & c10::after_autograd_keyset, a, b);
}

TORCH_LIBRARY(peer, m) {
    m.def("one(Tensor a) -> int");
    for (const char* name : {"two", "fallthrough", "layered", "boxed_only"}) {
        m.def((std::string(name) + "(Tensor a, Tensor b) -> int").c_str());
    }
    m.def("four(Tensor a, Tensor b, Tensor c, Tensor d) -> int");
    m.def("eight(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h, int i, int j, int k, int l) -> int");
    m.def("none(int a, int b) -> int");
    m.def("tensor(Tensor a, Tensor b) -> Tensor");
    m.def("list(Tensor[] a) -> int");
    m.impl("none", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(none));
}
TORCH_LIBRARY_IMPL(peer, CPU, m) {
    m.impl("one", TORCH_FN(one));
    m.impl("two", TORCH_FN(two));
    m.impl("fallthrough", TORCH_FN(two));
    m.impl("layered", TORCH_FN(two));
    m.impl("boxed_only", torch::CppFunction::makeFromBoxedFunction<&boxed_only>());
    m.impl("four", TORCH_FN(four));
    m.impl("eight", TORCH_FN(eight));
    m.impl("tensor", TORCH_FN(tensor));
    m.impl("list", TORCH_FN(list));
}
TORCH_LIBRARY_IMPL(peer, Autograd, m) { m.impl("fallthrough", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(peer, AutogradCPU, m) { m.impl("layered", TORCH_FN(layered_autograd)); }
TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

template <class Signature>
auto handle(const char* name) {
    return c10::Dispatcher::singleton().findSchemaOrThrow((std::string("peer::") + name).c_str(), "").typed<Signature>();
}

template <class T>
void keep(T&& value) { asm volatile("" : : "g"(&value) : "memory"); }

void time_case(const char* name, size_t loops, const std::function<void(size_t)>& body) {
    body(loops / 10 + 1);
    std::vector<double> times;
    for (int batch = 0; batch < 300; ++batch) {
        auto start = Clock::now();
        body(loops);
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / loops);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s %.3f %.3f\n", name, times.front(), times[times.size() / 2]);
}

#define CASE(NAME, LOOPS, EXPRESSION)                                   \
    time_case(NAME, LOOPS, [&](size_t loops) {                          \
        for (size_t i = 0; i < loops; ++i) { auto value = EXPRESSION; keep(value); } \
    })

int64_t (*volatile pointer)(const Tensor&, const Tensor&) = two;

Tensor inference() {
    c10::InferenceMode guard;
    return at::ones({2}).contiguous();
}

long resident_kib() {
    std::ifstream file("/proc/self/statm");
    long size, pages;
    file >> size >> pages;
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// Times a lookup while another thread looks up too, in the rounds in which both ran at once, as in benches/dispatch.rs.
void find_on_two_threads() {
    constexpr int kLoops = 20000, kRounds = 500;
    std::atomic<int> arrived{0};
    std::vector<Clock::time_point> starts[2], ends[2];
    auto thread = [&](int which) {
        for (int round = 0; round < kRounds; ++round) {
            arrived.fetch_add(1);
            while (arrived.load() < 2 * (round + 1)) {}
            starts[which].push_back(Clock::now());
            for (int i = 0; i < kLoops; ++i) { auto value = c10::Dispatcher::singleton().findSchemaOrThrow("peer::two", ""); keep(value); }
            ends[which].push_back(Clock::now());
        }
    };
    std::thread other(thread, 1);
    thread(0);
    other.join();
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) {
        auto nanoseconds = [](auto from, auto to) { return std::chrono::duration<double, std::nano>(to - from).count(); };
        double longer = std::max(nanoseconds(starts[0][round], ends[0][round]), nanoseconds(starts[1][round], ends[1][round]));
        auto from = std::max(starts[0][round], starts[1][round]), to = std::min(ends[0][round], ends[1][round]);
        if (nanoseconds(from, to) > 0.9 * longer) times.push_back(longer / kLoops);
    }
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    std::printf("find_two_threads %.3f %.3f\n", times.front(), times[times.size() / 2]);
}

void memory() {
    torch::Library library(torch::Library::FRAGMENT, "peer_memory", std::nullopt, __FILE__, __LINE__);
    long before = resident_kib();
    for (int i = 0; i < 1000; ++i) {
        std::string name = "op_" + std::to_string(i);
        library.def((name + "(Tensor self, Tensor other) -> Tensor").c_str());
        library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(tensor)));
    }
    std::printf("registered %ld\n", resident_kib() - before);
}

void spread() {
    using Two = int64_t(const Tensor&, const Tensor&);
    Tensor a = inference();
    torch::Library library(torch::Library::FRAGMENT, "peer_spread", std::nullopt, __FILE__, __LINE__);
    std::vector<c10::TypedOperatorHandle<Two>> all;
    for (int i = 0; i < 8192; ++i) {
        std::string name = "op_" + std::to_string(i);
        library.def((name + "(Tensor self, Tensor other) -> int").c_str());
        library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(two)));
        all.push_back(c10::Dispatcher::singleton().findSchemaOrThrow(("peer_spread::" + name).c_str(), "").typed<Two>());
    }
    for (size_t count : {16, 256, 2048, 8192}) {
        std::vector<c10::TypedOperatorHandle<Two>> order;
        for (size_t i = 0; i < count; ++i) order.push_back(all[i * (8192 / count)]);
        std::shuffle(order.begin(), order.end(), std::mt19937(42));
        double best = 1e9;
        for (int round = 0; round < 200; ++round) {
            auto start = Clock::now();
            for (size_t i = 0; i < 16384; ++i) { auto value = order[i & (count - 1)].call(a, a); keep(value); }
            best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 16384);
        }
        std::printf("spread_%zu %.3f\n", count, best);
    }
}

int cases() {
    using Two = int64_t(const Tensor&, const Tensor&);
    Tensor a = inference(), b = inference();
    Tensor x = at::ones({2}), y = at::ones({2});

    CASE("fnptr_int2", 20000, pointer(a, b));
    auto op_one = handle<int64_t(const Tensor&)>("one");
    CASE("call_1", 20000, op_one.call(a));
    auto op_two = handle<Two>("two");
    CASE("call_2", 20000, op_two.call(a, b));
    auto op_four = handle<int64_t(const Tensor&, const Tensor&, const Tensor&, const Tensor&)>("four");
    CASE("call_4", 20000, op_four.call(a, b, a, b));
    auto op_eight = handle<decltype(eight)>("eight");
    CASE("call_8_and_4_ints", 20000, op_eight.call(a, b, a, b, a, b, a, b, 1, 2, 3, 4));
    auto op_none = handle<int64_t(int64_t, int64_t)>("none");
    CASE("call_none_2_ints", 20000, op_none.call(1, 2));
    auto op_tensor = handle<Tensor(const Tensor&, const Tensor&)>("tensor");
    CASE("call_2_tensor", 20000, op_tensor.call(a, b));
    CASE("default_no_autograd", 5000, op_two.call(x, y));
    auto op_fallthrough = handle<Two>("fallthrough");
    CASE("default_fallthrough", 20000, op_fallthrough.call(x, y));
    auto op_layered = handle<Two>("layered");
    CASE("guard_redispatch", 10000, op_layered.call(x, y));
    c10::DispatchKeySet keys(c10::DispatchKey::CPU);
    CASE("redispatch", 20000, op_two.redispatch(keys, a, b));
    torch::jit::Stack stack;
    stack.reserve(8);
    auto boxed = [&](auto& op) {
        torch::jit::push(stack, a, b);
        op.callBoxed(stack);
        return torch::jit::pop(stack).toInt();
    };
    CASE("call_boxed", 5000, boxed(op_two));
    auto op_boxed_only = handle<Two>("boxed_only");
    CASE("boxed_only", 5000, op_boxed_only.call(a, b));
    {
        c10::impl::IncludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericWrapper);
        CASE("boxed_fallback", 5000, op_two.call(a, b));
    }
    std::vector<Tensor> tensors(8, a);
    auto op_list = handle<int64_t(at::TensorList)>("list");
    CASE("list_8", 20000, op_list.call(tensors));
    CASE("guard", 20000, c10::impl::ExcludeDispatchKeyGuard(c10::autograd_dispatch_keyset));
    CASE("find", 5000, c10::Dispatcher::singleton().findSchemaOrThrow("peer::two", ""));
    CASE("parse", 500, torch::jit::parseSchema("myadd(Tensor self, Tensor other) -> Tensor"));

    find_on_two_threads();

    std::vector<double> registration;
    for (int round = 0; round < 20; ++round) {
        torch::Library library(torch::Library::FRAGMENT, "peer_registered", std::nullopt, __FILE__, __LINE__);
        auto start = Clock::now();
        for (int i = 0; i < 1000; ++i) {
            std::string name = "op_" + std::to_string(i);
            library.def((name + "(Tensor self, Tensor other) -> Tensor").c_str());
            library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(tensor)));
        }
        registration.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 1000);
    }
    std::sort(registration.begin(), registration.end());
    std::printf("register %.3f %.3f\n", registration.front(), registration[registration.size() / 2]);
    return 0;
}

}  // namespace

extern "C" int bench_main(int argc, char** argv) {
    std::string what = argc > 1 ? argv[1] : "";
    if (what == "start") return static_cast<int>(handle<int64_t(const Tensor&)>("one").call(inference())) - 1;
    if (what == "memory") return memory(), 0;
    if (what == "spread") return spread(), 0;
    return cases();
}

#ifndef SHARED_OBJECT
int main(int argc, char** argv) { return bench_main(argc, argv); }
#endif
