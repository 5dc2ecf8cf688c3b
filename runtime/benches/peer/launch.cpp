// `launch SHARED_OBJECT [ARGUMENT…]`: loads a shared object and runs its `bench_main`.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
    void* object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* entry = object ? dlsym(object, "bench_main") : nullptr;
    if (!entry) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    return reinterpret_cast<int (*)(int, char**)>(entry)(argc - 1, argv + 1);
}
