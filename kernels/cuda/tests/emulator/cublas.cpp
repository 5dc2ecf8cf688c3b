// Matrix products under the name of cuBLAS: the only function that the crate calls, computed by its definition.

#include <cstdint>
#include <cstring>
#include <functional>

extern "C" void emulator_enqueue(void *stream, std::function<void()> *work);

namespace {

struct Handle { void *stream = nullptr; };
enum { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };

float from_bits(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
uint32_t to_bits(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }

double load(const void *matrix, int type, int64_t at) {
    switch (type) {
        case F32: return static_cast<const float *>(matrix)[at];
        case F64: return static_cast<const double *>(matrix)[at];
        case F16: return static_cast<const _Float16 *>(matrix)[at];
        default: return from_bits(uint32_t(static_cast<const uint16_t *>(matrix)[at]) << 16);
    }
}

void store(void *matrix, int type, int64_t at, double value) {
    switch (type) {
        case F32: static_cast<float *>(matrix)[at] = value; return;
        case F64: static_cast<double *>(matrix)[at] = value; return;
        case F16: static_cast<_Float16 *>(matrix)[at] = _Float16(float(value)); return;
        default: {
            uint32_t bits = to_bits(value);
            bool is_number = value == value;
            static_cast<uint16_t *>(matrix)[at] = is_number ? (bits + 0x7fff + ((bits >> 16) & 1)) >> 16 : 0x7fc0;
        }
    }
}

} // namespace

extern "C" {

int cublasCreate_v2(Handle **handle) { *handle = new Handle; return 0; }
int cublasDestroy_v2(Handle *handle) { delete handle; return 0; }
int cublasSetStream_v2(Handle *handle, void *stream) { handle->stream = stream; return 0; }

int cublasGemmStridedBatchedEx(Handle *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha_at,
                               const void *a, int a_type, int lda, long long a_step, const void *b, int b_type, int ldb,
                               long long b_step, const void *beta_at, void *c, int c_type, int ldc, long long c_step,
                               int batch, int compute, int) {
    bool is_double = compute == 70;
    // cuBLAS refuses a leading dimension that is too small.
    if (lda < (turn_a ? k : m) || ldb < (turn_b ? n : k) || ldc < m || lda < 1 || ldb < 1 || ldc < 1) return 7;
    double alpha = is_double ? *static_cast<const double *>(alpha_at) : *static_cast<const float *>(alpha_at);
    double beta = is_double ? *static_cast<const double *>(beta_at) : *static_cast<const float *>(beta_at);
    std::function<void()> work = [=] {
        for (int64_t at = 0; at < batch; at++)
            for (int64_t row = 0; row < m; row++)
                for (int64_t column = 0; column < n; column++) {
                    double sum = 0;
                    float narrow = 0; // the sum of all types but double
                    for (int64_t i = 0; i < k; i++) {
                        double x = load(a, a_type, at * a_step + (turn_a ? row * lda + i : i * lda + row));
                        double y = load(b, b_type, at * b_step + (turn_b ? i * ldb + column : column * ldb + i));
                        sum += x * y;
                        narrow += float(x) * float(y);
                    }
                    if (!is_double) sum = narrow;
                    int64_t place = at * c_step + column * ldc + row;
                    double old = beta == 0 ? 0 : beta * load(c, c_type, place);
                    store(c, c_type, place, alpha * sum + old);
                }
    };
    emulator_enqueue(handle->stream, &work);
    return 0;
}

} // extern "C"
