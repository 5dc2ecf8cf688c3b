//! The pieces of random numbers.

use torch_library_gpu::text::Random;

pub(super) const RANDOM: Random = Random {
    // The sine takes a number of half turns (`sinpi`).
    functions: "struct Words { u32 x, y, z, w; };
__device__ inline Words philox(Words c, u32 key_x, u32 key_y) {
    for (u32 round = 0; round < 10; round++) {
        c = Words{__umulhi(0xcd9e8d57u, c.z) ^ c.y ^ key_x, 0xcd9e8d57u * c.z,
                  __umulhi(0xd2511f53u, c.x) ^ c.w ^ key_y, 0xd2511f53u * c.x};
        key_x += 0x9e3779b9u;
        key_y += 0xbb67ae85u;
    }
    return c;
}
__device__ inline Words words_of(const Params &p, i64 i) {
    return philox(Words{(u32)p.counter[0], (u32)p.counter[1], (u32)i, (u32)(i >> 32)}, (u32)p.key[0], (u32)p.key[1]);
}
__device__ inline float unit(u32 word) { return fma((float)word, 2.3283064e-10f, 1.1641532e-10f); }
__device__ inline float uniform(const Params &p, i64 i) { return unit(words_of(p, i).x); }
__device__ inline float normal(const Params &p, i64 i) {
    Words words = words_of(p, i);
    return sinpi(2.0f * unit(words.y)) * sqrt(-2.0f * log(unit(words.x)));
}",
    // A number is compared with the upper bound as it is stored: 16-bit floats may round to it.
    uniform: "    R drawn = as<R>(fma(uniform(p, n), (float)p.span, (float)p.low));
    float value = as<float>(drawn) == as<float>(as<R>((float)p.high)) ? (float)p.low : as<float>(drawn);
",
    normal: "    float value = fma(normal(p, n), (float)p.deviation, (float)p.mean);\n",
    bernoulli: "    bool value = uniform(p, n) < (float)p.chance;\n",
    write: "    p.y[n] = as<R>(value);",
    words_of_bools: None,
};
