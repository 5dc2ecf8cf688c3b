// PyTorch without Python: the rows of small tensors, where most of the time is the call. Answers as rows.rs does.
#include <torch/torch.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>

using at::Tensor;
using Clock = std::chrono::steady_clock;

static std::map<std::string, std::function<Tensor()>> rows() {
    std::map<std::string, std::function<Tensor()>> rows;
    for (int64_t n : {1, 64, 4096}) {
        Tensor a = at::randn({n}), b = at::randn({n});
        std::string size = " f32 [" + std::to_string(n) + "]";
        rows["add" + size] = [=] { return at::add(a, b); };
        rows["mul" + size] = [=] { return at::mul(a, b); };
        rows["relu" + size] = [=] { return at::relu(a); };
        rows["exp" + size] = [=] { return at::exp(a); };
        rows["sum" + size] = [=] { return at::sum(a); };
    }
    for (int64_t n : {8, 64}) {
        Tensor a = at::randn({n, n}), b = at::randn({n, n}), row = at::randn({n}), column = at::randn({n, 1});
        std::string size = " f32 [" + std::to_string(n) + "," + std::to_string(n) + "]";
        rows["add" + size + " + transposed"] = [=] { return at::add(a, b.t()); };
        rows["add" + size + " + row"] = [=] { return at::add(a, row); };
        rows["add" + size + " + column"] = [=] { return at::add(a, column); };
        rows["exp" + size + " transposed"] = [=] { return at::exp(a.t()); };
        rows["contiguous" + size + " transposed"] = [=] { return a.t().contiguous(); };
        rows["sum" + size + " dim 0"] = [=] { return at::sum(a, 0); };
        rows["sum" + size + " dim 1"] = [=] { return at::sum(a, 1); };
    }
    Tensor p = at::randn({8, 8}), q = at::randn({8, 8}), scores = at::randn({32, 10});
    rows["mm f32 8x8"] = [=] { return at::mm(p, q); };
    rows["softmax f32 [32,10]"] = [=] { return at::softmax(scores, 1); };
    rows["log_softmax f32 [32,10]"] = [=] { return at::log_softmax(scores, 1); };
    Tensor image = at::randn({1, 1, 8, 8}), weight = at::randn({16, 1, 3, 3});
    rows["conv2d f32 [1,1,8,8]*[16,1,3,3] s1 p1 g1"] = [=] { return at::conv2d(image, weight, {}, 1, 1); };
    return rows;
}

static double time(const std::function<Tensor()>& call, int64_t calls) {
    auto start = Clock::now();
    for (int64_t i = 0; i < calls; i++) call();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

int main() {
    c10::InferenceMode inference;
    auto all = rows();
    for (std::string line; std::getline(std::cin, line);) {
        auto tab = line.find('\t');
        auto found = all.find(line.substr(0, tab));
        if (found == all.end()) {
            std::cout << "{}" << std::endl;
            continue;
        }
        double budget = std::stod(line.substr(tab + 1)) * 1e6;
        int64_t calls = 1;
        while (time(found->second, calls) < 500e3) calls *= 2;
        std::string samples;
        for (auto start = Clock::now(); std::chrono::duration<double, std::nano>(Clock::now() - start).count() < budget;)
            samples += (samples.empty() ? "" : ",") + std::to_string(time(found->second, calls) / calls);
        std::cout << "{\"row\":\"" << found->first << "\",\"ns\":[" << samples << "]}" << std::endl;
    }
}
