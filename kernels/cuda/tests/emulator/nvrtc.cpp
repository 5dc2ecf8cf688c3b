// The host's compiler under the name of NVRTC: it makes a shared object from a kernel. If NVIDIA's own is found (as
// `libnvrtc.so.13` or `.12`, or at the path in NVRTC_LIBRARY), it has to accept each source too, for a GPU of compute
// capability 7.5. The outputs of both are kept in a folder, by a hash of the source.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void emulator_folder(const char *path, const char *text);

namespace {

enum { SUCCESS = 0, COMPILATION = 6 };

std::string folder, header;
struct Program { std::string source, log, image; };

bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

std::string hash(const std::string &text) {
    unsigned long long sum = 14695981039346656037ull;
    for (unsigned char letter : text + header) sum = (sum ^ letter) * 1099511628211ull;
    char name[32];
    snprintf(name, sizeof name, "%016llx", sum);
    return name;
}

// For programs other than tests: the variable CUDA_EMULATOR names the folder of these sources, where kernels are kept too.
void find_folder() {
    static std::mutex turn;
    std::lock_guard<std::mutex> guard(turn);
    const char *path = getenv("CUDA_EMULATOR");
    if (!folder.empty() || path == nullptr) return;
    std::stringstream text;
    text << std::ifstream(std::string(path) + "/host.h").rdbuf();
    emulator_folder((std::string(path) + "/kernels").c_str(), text.str().c_str());
}

int by_host(Program &program, const std::string &base) {
    program.image = base + ".so";
    if (exists(program.image)) return SUCCESS;
    std::ofstream(base + ".cpp") << header << "\nextern \"C\" {\nextern int emulated_has_barrier;\nextern unsigned long emulated_params_size;\n}\n"
        << program.source << "\nextern \"C\" {\nint emulated_has_barrier = "
        << (program.source.find("__syncthreads();") != std::string::npos) << ";\nunsigned long emulated_params_size = sizeof(Params);\n"
        << "void emulated_thread(void *params) { kernel(*static_cast<Params *>(params)); }\n}\n";
    const char *compiler = getenv("CXX");
    std::string made = base + "." + std::to_string(getpid()) + ".so", log = base + ".log";
    std::string command = std::string(compiler ? compiler : "c++") + " -std=c++17 -O1 -w -fno-builtin -ffp-contract=off -fPIC -shared -o " + made + " " +
        base + ".cpp 2> " + log;
    if (system(command.c_str()) != 0) {
        std::stringstream text;
        text << std::ifstream(log).rdbuf();
        program.log = text.str();
        return COMPILATION;
    }
    rename(made.c_str(), program.image.c_str());
    unlink(log.c_str());
    return SUCCESS;
}

// NVIDIA's compiler, if there is one.
void *nvidia() {
    static void *library = [] {
        const char *path = getenv("NVRTC_LIBRARY");
        void *found = dlopen(path ? path : "libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
        return found ? found : dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
    }();
    return library;
}

template <class F> F function(const char *name) { return reinterpret_cast<F>(dlsym(nvidia(), name)); }

int by_nvidia(Program &program, const std::string &base) {
    std::string passed = base + ".passed";
    if (nvidia() == nullptr || exists(passed)) return SUCCESS;
    void *theirs = nullptr;
    auto create = function<int (*)(void **, const char *, const char *, int, const char **, const char **)>("nvrtcCreateProgram");
    auto compile = function<int (*)(void *, int, const char **)>("nvrtcCompileProgram");
    auto log_size = function<int (*)(void *, size_t *)>("nvrtcGetProgramLogSize");
    auto log = function<int (*)(void *, char *)>("nvrtcGetProgramLog");
    auto ptx_size = function<int (*)(void *, size_t *)>("nvrtcGetPTXSize");
    auto ptx = function<int (*)(void *, char *)>("nvrtcGetPTX");
    auto destroy = function<int (*)(void **)>("nvrtcDestroyProgram");
    if (int code = create(&theirs, program.source.c_str(), "kernel.cu", 0, nullptr, nullptr)) return code;
    const char *options[] = {"--gpu-architecture=compute_75", "--std=c++17"};
    int code = compile(theirs, 2, options);
    size_t size = 0;
    log_size(theirs, &size);
    std::string text(size, 0);
    log(theirs, &text[0]);
    if (code != SUCCESS) {
        program.log = "NVRTC: " + text;
    } else {
        ptx_size(theirs, &size);
        std::string found(size, 0);
        ptx(theirs, &found[0]);
        std::ofstream(base + ".cu") << program.source;
        std::ofstream(passed) << found.c_str();
    }
    destroy(&theirs);
    return code;
}

} // namespace

extern "C" {

// Sets the folder for outputs, and the text that precedes each source.
void emulator_folder(const char *path, const char *text) { folder = path; header = text; }
int emulator_has_nvrtc() { return nvidia() != nullptr; }

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return SUCCESS; }
const char *nvrtcGetErrorString(int code) { return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR"; }
int nvrtcCreateProgram(Program **program, const char *source, const char *, int, const char **, const char **) {
    *program = new Program{source, "", ""};
    return SUCCESS;
}
int nvrtcCompileProgram(Program *program, int, const char **) {
    find_folder();
    std::string base = folder + "/" + hash(program->source);
    if (int code = by_nvidia(*program, base)) return code;
    return by_host(*program, base);
}
int nvrtcGetProgramLogSize(Program *program, size_t *size) { *size = program->log.size() + 1; return SUCCESS; }
int nvrtcGetProgramLog(Program *program, char *log) { strcpy(log, program->log.c_str()); return SUCCESS; }
int nvrtcGetPTXSize(Program *program, size_t *size) { *size = program->image.size() + 1; return SUCCESS; }
int nvrtcGetPTX(Program *program, char *ptx) { strcpy(ptx, program->image.c_str()); return SUCCESS; }
int nvrtcGetCUBINSize(Program *program, size_t *size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetCUBIN(Program *program, char *image) { return nvrtcGetPTX(program, image); }
int nvrtcDestroyProgram(Program **program) { delete *program; *program = nullptr; return SUCCESS; }

} // extern "C"
