// A library in C that declares what it needs of the ABI itself: so the loader is tested where there is no PyTorch.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Word;
typedef void *Handle;

int32_t aoti_torch_library_init_def(const char *, const char *, uint32_t, Handle *);
int32_t aoti_torch_library_init_fragment(const char *, const char *, uint32_t, Handle *);
int32_t aoti_torch_library_init_impl(const char *, const char *, const char *, uint32_t, Handle *);
int32_t aoti_torch_library_def(Handle, const char *);
int32_t torch_library_def_with_tags(Handle, const char *, const int32_t *, int32_t);
int32_t torch_tag_pointwise(void);
int32_t torch_library_impl(Handle, const char *, void (*)(Word *, uint64_t, uint64_t), uint64_t);
int32_t aoti_torch_delete_library_object(Handle);
int32_t torch_call_dispatcher(const char *, const char *, Word *, uint64_t);
void aoti_torch_check(bool, const char *, const char *, uint32_t, const char *);
const char *torch_exception_get_what(void);
int32_t aoti_torch_get_numel(Handle, int64_t *);
int32_t aoti_torch_get_dim(Handle, int64_t *);
int32_t aoti_torch_get_sizes(Handle, int64_t **);
int32_t aoti_torch_get_strides(Handle, int64_t **);
int32_t aoti_torch_get_dtype(Handle, int32_t *);
int32_t aoti_torch_get_data_ptr(Handle, void **);
int32_t aoti_torch_empty_strided(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, Handle *);
int32_t aoti_torch__reinterpret_tensor(Handle, int64_t, const int64_t *, const int64_t *, int64_t, Handle *);
int32_t aoti_torch_delete_tensor_object(Handle);
int32_t aoti_torch_zero_(Handle);
int32_t aoti_torch_dtype_float64(void);
int32_t aoti_torch_device_type_cpu(void);
int32_t torch_from_blob(void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, Handle *, int32_t,
                        const uint8_t *, int64_t, void (*)(void *, void *), void *);
int32_t torch_new_string_handle(const char *, size_t, Handle *);
int32_t torch_string_c_str(Handle, const char **);
int32_t torch_delete_string(Handle);
int32_t torch_parallel_for(int64_t, int64_t, int64_t, void (*)(int64_t, int64_t, void *), void *);
int32_t aoti_torch_create_cuda_guard(int32_t, Handle *);
int32_t torch_c10_cuda_check_msg(int32_t, const char *, const char *, uint32_t, bool, char **);
void torch_c10_cuda_free_error_msg(char *);
int32_t aoti_torch_item_float64(Handle, double *);
int32_t aoti_torch_as_strided(Handle, const int64_t *, const int64_t *, Handle *);
int32_t aoti_torch_assign_tensors_out(Handle, Handle *);

static const uint64_t version = (2ull << 56) | (10ull << 48);

static void check(int32_t code) {
    aoti_torch_check(code == 0, __func__, __FILE__, __LINE__, torch_exception_get_what());
}

static Handle new_string(const char *text) {
    Handle handle;
    check(torch_new_string_handle(text, strlen(text), &handle));
    return handle;
}

static double *elements(Handle tensor, int64_t *count) {
    int32_t dtype;
    void *data;
    check(aoti_torch_get_dtype(tensor, &dtype));
    aoti_torch_check(dtype == aoti_torch_dtype_float64(), __func__, __FILE__, __LINE__, "only float64 is served");
    check(aoti_torch_get_numel(tensor, count));
    check(aoti_torch_get_data_ptr(tensor, &data));
    return data;
}

// Whatever came in goes out.
static void echo(Word *stack, uint64_t inputs, uint64_t outputs) { (void)stack, (void)inputs, (void)outputs; }

static void swap(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Word first = stack[0];
    stack[0] = stack[1], stack[1] = first;
}

static void add_one(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Handle x = (Handle)stack[0], result;
    int64_t dim, count, *sizes, *strides;
    double *from = elements(x, &count), *to;
    check(aoti_torch_get_dim(x, &dim));
    check(aoti_torch_get_sizes(x, &sizes));
    check(aoti_torch_get_strides(x, &strides));
    check(aoti_torch_empty_strided(dim, sizes, strides, aoti_torch_dtype_float64(), aoti_torch_device_type_cpu(), -1, &result));
    to = elements(result, &count);
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i] + 1;
    check(aoti_torch_delete_tensor_object(x));
    stack[0] = (Word)result;
}

static void fill_(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    int64_t count;
    double value, *to = elements((Handle)stack[0], &count);
    memcpy(&value, &stack[1], sizeof value);
    for (int64_t i = 0; i < count; i++)
        to[i] = value;
}

// By an operator of the host, which writes what this kernel writes.
static void clear_(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    check(aoti_torch_zero_((Handle)stack[0]));
}

static void tail(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Handle x = (Handle)stack[0], result;
    int64_t start = (int64_t)stack[1], *sizes, *strides;
    check(aoti_torch_get_sizes(x, &sizes));
    check(aoti_torch_get_strides(x, &strides));
    int64_t size = sizes[0] - start;
    check(aoti_torch__reinterpret_tensor(x, 1, &size, strides, start * strides[0], &result));
    check(aoti_torch_delete_tensor_object(x));
    stack[0] = (Word)result;
}

static void spell(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    double number;
    const char *text;
    char spelt[200];
    memcpy(&number, &stack[1], sizeof number);
    check(torch_string_c_str((Handle)stack[3], &text));
    snprintf(spelt, sizeof spelt, "%lld %g %d %s %d %d:%d", (long long)stack[0], number, (int)(bool)stack[2], text, (int)stack[4],
             (int)(stack[5] >> 32), (int)stack[5]);
    check(torch_delete_string((Handle)stack[3]));
    stack[0] = (Word)new_string(spelt);
}

static void square(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Word inner[3] = {stack[0], 0};
    Handle exponent;
    int64_t none = 0;
    (void)none;
    check(aoti_torch_empty_strided(0, NULL, NULL, aoti_torch_dtype_float64(), aoti_torch_device_type_cpu(), -1, &exponent));
    int64_t count;
    *elements(exponent, &count) = 2;
    inner[1] = (Word)exponent;
    check(torch_call_dispatcher("aten::pow", "Tensor_Tensor", inner, version));
    stack[0] = inner[0];
}

// What the host says of an operator that is not there.
static void ask(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Word none[1];
    int32_t code = torch_call_dispatcher("plain::missing", "", none, version);
    stack[0] = (Word)new_string(code == 1 ? torch_exception_get_what() : "no error");
}

static void ask_for_cuda(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)stack, (void)inputs, (void)outputs;
    Handle guard;
    check(aoti_torch_create_cuda_guard(0, &guard));
}

// Reads elements at a composite key, where layers have not been left yet.
static void first(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Handle x = (Handle)stack[0];
    int64_t count;
    double *from = elements(x, &count);
    memcpy(&stack[0], from, sizeof *from);
    check(aoti_torch_delete_tensor_object(x));
}

// What a kernel writes, it may also ask for an element of, in a type of its choice.
static void only_(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Handle x = (Handle)stack[0];
    double element;
    check(aoti_torch_item_float64(x, &element));
    memcpy(&stack[0], &element, sizeof element);
    check(aoti_torch_delete_tensor_object(x));
}

static void transposed(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    Handle x = (Handle)stack[0], view, result;
    int64_t *sizes, *strides;
    check(aoti_torch_get_sizes(x, &sizes));
    check(aoti_torch_get_strides(x, &strides));
    int64_t swapped[] = {sizes[1], sizes[0]}, steps[] = {strides[1], strides[0]};
    check(aoti_torch_as_strided(x, swapped, steps, &view));
    check(aoti_torch_assign_tensors_out(view, &result));
    check(aoti_torch_delete_tensor_object(view));
    check(aoti_torch_delete_tensor_object(x));
    stack[0] = (Word)result;
}

// Like `STD_CUDA_CHECK` of the headers.
static void check_cuda(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    char *message = NULL, kept[200];
    torch_c10_cuda_check_msg((int32_t)stack[0], "kernel.cu", "launch", 7, true, &message);
    if (message != NULL) {
        snprintf(kept, sizeof kept, "%s", message);
        torch_c10_cuda_free_error_msg(message);
        aoti_torch_check(false, __func__, __FILE__, __LINE__, kept);
    }
}

static atomic_int freed;

static void release(void *data, void *context) {
    free(data);
    atomic_fetch_add((atomic_int *)context, 1);
}

static void lend(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    int64_t count = (int64_t)stack[0], stride = 1;
    Handle result;
    double *data = malloc(count * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (double)i;
    check(torch_from_blob(data, 1, &count, &stride, 0, aoti_torch_dtype_float64(), aoti_torch_device_type_cpu(), -1, &result, 0, NULL,
                          0, release, &freed));
    stack[0] = (Word)result;
}

static void count_freed(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    stack[0] = (Word)atomic_load(&freed);
}

static void add_part(int64_t begin, int64_t end, void *sum) {
    aoti_torch_check(begin < 1000000, __func__, __FILE__, __LINE__, "that is far");
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add((atomic_llong *)sum, i);
}

static void sum_below(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    atomic_llong sum = 0;
    check(torch_parallel_for(0, (int64_t)stack[0], 10, add_part, &sum));
    stack[0] = (Word)atomic_load(&sum);
}

static atomic_int waiting, go;

static void wait_(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)stack, (void)inputs, (void)outputs;
    atomic_store(&waiting, 1);
    while (!atomic_load(&go))
        ;
}

static void is_waiting(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    stack[0] = (Word)atomic_load(&waiting);
}

static void let_go(Word *stack, uint64_t inputs, uint64_t outputs) {
    (void)stack, (void)inputs, (void)outputs;
    atomic_store(&go, 1);
}

#ifndef NAMESPACE
#define NAMESPACE "plain"
#endif

static void kernel(Handle library, const char *name, void (*function)(Word *, uint64_t, uint64_t)) {
    torch_library_impl(library, name, function, version);
}

__attribute__((constructor)) static void initialise(void) {
    static const char *const echoed[] = {
        "Tensor",   "Tensor?",  "Tensor[]",     "Tensor?[]", "int",     "int?",   "int[]", "int[2]", "SymInt",    "SymInt[]",
        "float",    "float?",   "float[]",      "bool",      "bool?",   "bool[]", "str",   "str?",   "str[]",     "ScalarType",
        "Device",   "Device?",  "Layout",       "int[]?",    "Scalar",  "Generator?", "MemoryFormat",
    };
    Handle definitions, fragment, cpu, composite, implicit;
    char text[100];
    aoti_torch_library_init_def(NAMESPACE, __FILE__, __LINE__, &definitions);
    aoti_torch_library_init_impl(NAMESPACE, "CPU", __FILE__, __LINE__, &cpu);
    aoti_torch_library_init_impl(NAMESPACE, "CompositeExplicitAutograd", __FILE__, __LINE__, &composite);
    aoti_torch_library_init_impl(NAMESPACE, "CompositeImplicitAutograd", __FILE__, __LINE__, &implicit);
    for (size_t i = 0; i < sizeof echoed / sizeof *echoed; i++) {
        snprintf(text, sizeof text, "echo.t%zu(%s x) -> %s", i, echoed[i], echoed[i]);
        aoti_torch_library_def(definitions, text);
        snprintf(text, sizeof text, "echo.t%zu", i);
        kernel(composite, text, echo);
    }
    int32_t tags[] = {torch_tag_pointwise()};
    torch_library_def_with_tags(definitions, "add_one(Tensor x) -> Tensor", tags, 1);
    kernel(cpu, "add_one", add_one);
    aoti_torch_library_def(definitions, "fill_(Tensor(a!) self, float value=0.5) -> Tensor(a!)");
    kernel(cpu, "fill_", fill_);
    aoti_torch_library_def(definitions, "clear_(Tensor(a!) self) -> Tensor(a!)");
    kernel(cpu, "clear_", clear_);
    aoti_torch_library_def(definitions, "tail(Tensor(a) self, int start) -> Tensor(a)");
    kernel(cpu, "tail", tail);
    aoti_torch_library_def(definitions, "first(Tensor x) -> float");
    kernel(implicit, "first", first);
    aoti_torch_library_def(definitions, "only_(Tensor(a!) self) -> float");
    kernel(cpu, "only_", only_);
    aoti_torch_library_def(definitions, "transposed(Tensor(a) x) -> Tensor(a)");
    kernel(implicit, "transposed", transposed);

    aoti_torch_library_init_fragment(NAMESPACE, __FILE__, __LINE__, &fragment);
    static const struct {
        const char *name, *schema;
        void (*function)(Word *, uint64_t, uint64_t);
    } others[] = {
        {"swap", "swap(Tensor a, int[] b) -> (int[] first, Tensor second)", swap},
        {"spell", "spell(int i, float f, bool b, str s, ScalarType d, Device at) -> str", spell},
        {"square", "square(Tensor x) -> Tensor", square},
        {"ask", "ask() -> str", ask},
        {"ask_for_cuda", "ask_for_cuda() -> ()", ask_for_cuda},
        {"check_cuda", "check_cuda(int code) -> ()", check_cuda},
        {"lend", "lend(int count) -> Tensor", lend},
        {"count_freed", "count_freed() -> int", count_freed},
        {"sum_below", "sum_below(int end) -> int", sum_below},
        {"wait_", "wait_(Tensor(a!) self, Tensor other) -> ()", wait_},
        {"is_waiting", "is_waiting() -> bool", is_waiting},
        {"let_go", "let_go() -> ()", let_go},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        aoti_torch_library_def(fragment, others[i].schema);
        kernel(composite, others[i].name, others[i].function);
    }
#ifdef MISTAKE
    aoti_torch_library_def(definitions, MISTAKE);
#endif
}
