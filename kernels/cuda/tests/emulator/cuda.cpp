// A CUDA driver whose device is the host, for machines without a GPU: the functions that the crate calls, by their names.
//
// A module is a shared object that `nvrtc.cpp` made from a kernel's source with the host's compiler. Work on a stream
// stays in a queue until the program waits for it, which is as late as a device may do it. Threads of a block run one
// after the other up to the next barrier, alternately forwards and backwards, so that a missing barrier shows.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <ucontext.h>
#include <vector>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_FOUND = 500,
       NOT_READY = 600, ILLEGAL_ADDRESS = 700 };

namespace {

const int DEVICES = 2;
const size_t LIMIT = size_t(1) << 33; // of all devices together

std::recursive_mutex all;

struct Context { int device; };
struct Event { bool done = true; };
typedef std::shared_ptr<Event> SharedEvent;

// The calls that use a device now, which a reset must not destroy under them.
std::atomic<int> calls[DEVICES];

struct Stream {
    int device;
    std::deque<std::function<void()>> queue;
    void drain() {
        while (!queue.empty()) {
            auto work = std::move(queue.front());
            queue.pop_front();
            work();
        }
    }
};

struct Recorded { SharedEvent event = std::make_shared<Event>(); Stream *stream = nullptr; };

struct Module { void *library; };

struct Kernel {
    void (*entry)(void *);
    uint32_t *thread, *block, *threads, *blocks;
    void (**barrier)();
    size_t params_size;
    bool has_barrier;
};

Context contexts[DEVICES] = {{0}, {1}};
thread_local Context *current = nullptr;
std::vector<Stream *> streams;
std::map<uintptr_t, size_t> blocks;
size_t used = 0;
int failure = SUCCESS; // the error of the device, once a call has failed

bool is_inside(uintptr_t at, size_t count) {
    auto after = blocks.upper_bound(at);
    if (after == blocks.begin()) return false;
    --after;
    return at + count <= after->first + after->second;
}

int check() { return current == nullptr ? INVALID_CONTEXT : failure; }

// The threads of a block, each on a stack of its own.
const size_t STACK = 1 << 16;
std::vector<ucontext_t> fibers;
std::vector<char *> stacks;
std::vector<char> finished;
ucontext_t scheduler;
size_t running = 0;
Kernel *launched = nullptr;
void *launched_params = nullptr;

void wait_at_barrier() { swapcontext(&fibers[running], &scheduler); }

void thread_main() {
    launched->entry(launched_params);
    finished[running] = 1;
    swapcontext(&fibers[running], &scheduler);
}

void place(const Kernel &kernel, size_t thread) {
    kernel.thread[0] = thread % kernel.threads[0];
    kernel.thread[1] = thread / kernel.threads[0] % kernel.threads[1];
    kernel.thread[2] = thread / kernel.threads[0] / kernel.threads[1];
}

void run_block(Kernel &kernel, void *params, size_t count) {
    if (!kernel.has_barrier) {
        for (size_t thread = 0; thread < count; thread++) { place(kernel, thread); kernel.entry(params); }
        return;
    }
    launched = &kernel;
    launched_params = params;
    *kernel.barrier = wait_at_barrier;
    while (stacks.size() < count) stacks.push_back(new char[STACK]);
    fibers.resize(std::max(fibers.size(), count));
    finished.assign(count, 0);
    for (size_t thread = 0; thread < count; thread++) {
        getcontext(&fibers[thread]);
        fibers[thread].uc_stack.ss_sp = stacks[thread];
        fibers[thread].uc_stack.ss_size = STACK;
        fibers[thread].uc_link = nullptr;
        makecontext(&fibers[thread], thread_main, 0);
    }
    for (size_t phase = 0, ended = 0; ended < count; phase++) {
        size_t before = ended;
        for (size_t step = 0; step < count; step++) {
            running = phase % 2 == 0 ? step : count - 1 - step;
            place(kernel, running);
            swapcontext(&scheduler, &fibers[running]);
            ended += finished[running];
        }
        if (ended != before && ended != count) {
            fprintf(stderr, "emulator: some threads of a block ended, and others wait at a barrier\n");
            abort();
        }
    }
}

int attribute(int which) {
    switch (which) {
        case 75: return 8; // compute capability, major
        case 76: return 0;
        case 16: return 4; // multiprocessors
        default: return 0;
    }
}

} // namespace

extern "C" {

// For the other libraries of the emulator.
void emulator_enqueue(void *stream, std::function<void()> *work) {
    std::lock_guard<std::recursive_mutex> guard(all);
    static_cast<Stream *>(stream)->queue.push_back(std::move(*work));
}

// For tests: calls to the device fail from now on, as after a kernel with an illegal memory access.
void emulator_fail(int code) { failure = code; }

int cuInit(unsigned) { return SUCCESS; }
int cuDriverGetVersion(int *version) { *version = 13000; return SUCCESS; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return SUCCESS; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal < DEVICES ? SUCCESS : INVALID_DEVICE; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "emulated GPU %d", device); return SUCCESS; }
int cuDeviceGetAttribute(int *value, int which, int) { *value = attribute(which); return SUCCESS; }
int cuDevicePrimaryCtxRetain(Context **context, int device) { *context = &contexts[device]; return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuDevicePrimaryCtxReset_v2(int device) {
    if (calls[device] != 0) {
        fprintf(stderr, "emulator: a device was reset while a call used it\n");
        abort();
    }
    failure = SUCCESS;
    return SUCCESS;
}
int cuCtxSetCurrent(Context *context) { current = context; return SUCCESS; }
int cuGetErrorName(int code, const char **name) { *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR"; return SUCCESS; }
int cuGetErrorString(int code, const char **text) { *text = code == OUT_OF_MEMORY ? "out of memory" : "emulated failure"; return SUCCESS; }

int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = LIMIT - used; *total = LIMIT; return check(); }

int cuMemAlloc_v2(uintptr_t *address, size_t nbytes) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (nbytes > LIMIT - used) return OUT_OF_MEMORY;
    void *memory = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    if (memory == nullptr) return OUT_OF_MEMORY;
    memset(memory, 0xff, nbytes); // NaN, which reads of uninitialised memory find
    *address = reinterpret_cast<uintptr_t>(memory);
    blocks[*address] = nbytes;
    used += nbytes;
    return SUCCESS;
}

int cuMemFree_v2(uintptr_t address) {
    std::lock_guard<std::recursive_mutex> guard(all);
    for (Stream *stream : streams) stream->drain(); // the driver waits for the device
    auto found = blocks.find(address);
    if (found == blocks.end()) return INVALID_VALUE;
    used -= found->second;
    free(reinterpret_cast<void *>(address));
    blocks.erase(found);
    return SUCCESS;
}

int cuMemHostAlloc(void **address, size_t nbytes, unsigned) {
    *address = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    return *address ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemFreeHost(void *address) { free(address); return SUCCESS; }

int cuStreamCreate(Stream **stream, unsigned) {
    std::lock_guard<std::recursive_mutex> guard(all);
    *stream = new Stream{current == nullptr ? 0 : current->device, {}};
    streams.push_back(*stream);
    return check();
}
int cuStreamDestroy_v2(Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    stream->drain();
    return SUCCESS;
}
int cuStreamSynchronize(Stream *stream) {
    calls[stream->device]++;
    std::lock_guard<std::recursive_mutex> guard(all);
    stream->drain();
    calls[stream->device]--;
    return check();
}
int cuCtxSynchronize() {
    std::lock_guard<std::recursive_mutex> guard(all);
    for (Stream *stream : streams) stream->drain();
    return check();
}

int cuEventCreate(Recorded **event, unsigned) { *event = new Recorded; return check(); }
int cuEventDestroy_v2(Recorded *event) { delete event; return SUCCESS; }
int cuEventRecord(Recorded *event, Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    SharedEvent shared = std::make_shared<Event>();
    shared->done = false;
    event->event = shared;
    event->stream = stream;
    stream->queue.push_back([shared] { shared->done = true; });
    return check();
}
int cuEventQuery(Recorded *event) {
    std::lock_guard<std::recursive_mutex> guard(all);
    // The device makes progress while the program polls: one step for each call.
    if (!event->event->done && event->stream && !event->stream->queue.empty()) {
        auto work = std::move(event->stream->queue.front());
        event->stream->queue.pop_front();
        work();
    }
    if (failure) return failure;
    return event->event->done ? SUCCESS : NOT_READY;
}
int cuEventSynchronize(Recorded *event) {
    std::lock_guard<std::recursive_mutex> guard(all);
    while (!event->event->done && !event->stream->queue.empty()) {
        auto work = std::move(event->stream->queue.front());
        event->stream->queue.pop_front();
        work();
    }
    return check();
}
int cuEventElapsedTime_v2(float *milliseconds, Recorded *, Recorded *) { *milliseconds = 0.25f; return check(); }
int cuStreamWaitEvent(Stream *stream, Recorded *event, unsigned) {
    std::lock_guard<std::recursive_mutex> guard(all);
    SharedEvent shared = event->event;
    Stream *other = event->stream;
    stream->queue.push_back([shared, other] {
        while (!shared->done && other && !other->queue.empty()) {
            auto work = std::move(other->queue.front());
            other->queue.pop_front();
            work();
        }
    });
    return check();
}

int cuMemsetD8Async(uintptr_t address, unsigned char byte, size_t count, Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (!is_inside(address, count)) return INVALID_VALUE;
    stream->queue.push_back([=] { memset(reinterpret_cast<void *>(address), byte, count); });
    return SUCCESS;
}
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t count, Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (!is_inside(to, count)) return INVALID_VALUE;
    stream->queue.push_back([=] { memcpy(reinterpret_cast<void *>(to), from, count); });
    return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t count, Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (!is_inside(from, count)) return INVALID_VALUE;
    stream->queue.push_back([=] { memcpy(to, reinterpret_cast<void *>(from), count); });
    return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t count, Stream *stream) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (!is_inside(to, count) || !is_inside(from, count)) return INVALID_VALUE;
    stream->queue.push_back([=] { memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), count); });
    return SUCCESS;
}
int cuMemcpyPeerAsync(uintptr_t to, Context *, uintptr_t from, Context *, size_t count, Stream *stream) {
    return cuMemcpyDtoDAsync_v2(to, from, count, stream);
}

int cuModuleLoadData(Module **module, const void *image) {
    if (int code = check()) return code;
    void *library = dlopen(static_cast<const char *>(image), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) { fprintf(stderr, "emulator: %s\n", dlerror()); return NOT_FOUND; }
    *module = new Module{library};
    return SUCCESS;
}
int cuModuleUnload(Module *module) { delete module; return SUCCESS; }
int cuModuleGetFunction(Kernel **function, Module *module, const char *) {
    auto find = [&](const char *name) { return dlsym(module->library, name); };
    Kernel *kernel = new Kernel;
    kernel->entry = reinterpret_cast<void (*)(void *)>(find("emulated_thread"));
    kernel->thread = static_cast<uint32_t *>(find("threadIdx"));
    kernel->block = static_cast<uint32_t *>(find("blockIdx"));
    kernel->threads = static_cast<uint32_t *>(find("blockDim"));
    kernel->blocks = static_cast<uint32_t *>(find("gridDim"));
    kernel->barrier = static_cast<void (**)()>(find("emulated_barrier"));
    kernel->params_size = *static_cast<unsigned long *>(find("emulated_params_size"));
    kernel->has_barrier = *static_cast<int *>(find("emulated_has_barrier")) != 0;
    *function = kernel;
    return SUCCESS;
}

int cuLaunchKernel(Kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned, Stream *stream, void **params, void **) {
    std::lock_guard<std::recursive_mutex> guard(all);
    if (int code = check()) return code;
    if (size_t(block_x) * block_y * block_z > 1024 || grid_x == 0 || grid_y > 65535 || grid_z > 65535 || kernel->params_size > 4096)
        return INVALID_VALUE;
    const char *start = static_cast<const char *>(params[0]);
    std::vector<char> copied(start, start + kernel->params_size);
    stream->queue.push_back([=]() mutable {
        uint32_t block[3] = {block_x, block_y, block_z}, grid[3] = {grid_x, grid_y, grid_z};
        memcpy(kernel->threads, block, sizeof block);
        memcpy(kernel->blocks, grid, sizeof grid);
        for (uint32_t z = 0; z < grid_z; z++)
            for (uint32_t y = 0; y < grid_y; y++)
                for (uint32_t x = 0; x < grid_x; x++) {
                    kernel->block[0] = x, kernel->block[1] = y, kernel->block[2] = z;
                    run_block(*kernel, copied.data(), size_t(block_x) * block_y * block_z);
                }
    });
    return SUCCESS;
}

} // extern "C"
