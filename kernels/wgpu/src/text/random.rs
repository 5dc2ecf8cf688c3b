//! The pieces of random numbers.

use torch_library_gpu::text::Random;

pub(super) const RANDOM: Random = Random {
    functions: NUMBERS,
    uniform: "    let drawn = fma(uniform(n), p.span, p.low);
    let value = select(drawn, p.low, drawn == p.high);
",
    normal: "    let value = fma(normal(n), p.deviation, p.mean);\n",
    bernoulli: "    let value = select(0.0, 1.0, uniform(n) < p.chance);\n",
    write: "    set_y(n, R(value));",
    words_of_bools: Some(
        "    var word = 0u;
    for (var byte = 0u; byte < 4u; byte++) {
        word |= select(0u, 1u, uniform(4u * n + byte) < p.chance) << (8u * byte);
    }
    set_y(n, word);",
    ),
};

/// The sine takes an integral number of parts of a turn, so that it is equally precise on every device.
const NUMBERS: &str = "fn philox(counter: vec4<u32>, first_key: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var key = first_key;
    for (var round = 0u; round < 10u; round++) {
        c = vec4(
            upper(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z,
            upper(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key += vec2(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}
fn words_of(i: u32) -> vec4<u32> {
    return philox(vec4(p.counter[0], p.counter[1], i, 0u), vec2(p.key[0], p.key[1]));
}
fn unit(word: u32) -> f32 { return fma(f32(word), 2.3283064e-10, 1.1641532e-10); }
fn uniform(i: u32) -> f32 { return unit(words_of(i).x); }
fn sine_of_turn(word: u32) -> f32 {
    let moved = word + 0x20000000u;
    let x = (f32(i32(moved & 0x3fffffffu) - 0x20000000) + 0.5) * 1.4629181e-9;
    let s = x * x;
    let sine = x * (1.0 + s * (-0.16666667 + s * (0.008333333 + s * (-1.9841270e-4 + s * 2.7557319e-6))));
    let cosine = 1.0 + s * (-0.5 + s * (0.041666668 + s * (-0.0013888889 + s * 2.4801587e-5)));
    let part = select(sine, cosine, (moved >> 30u & 1u) == 1u);
    return select(part, -part, (moved >> 31u) == 1u);
}
fn normal(i: u32) -> f32 {
    let words = words_of(i);
    return sine_of_turn(words.y) * sqrt(-2.0 * log(unit(words.x)));
}";

#[cfg(test)]
mod tests {
    use torch_library::prelude::*;
    use torch_library_gpu::KernelBuilder;

    use super::*;
    use crate::shader::Shader;

    /// The test vectors that Philox's authors published.
    #[test]
    fn philox_has_the_published_answers() {
        let Ok(device) = "wgpu".parse::<Device>().and_then(torch_library::backend::resolve) else { return };
        let ones = i64::from(u32::MAX);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822, 0x299f_31d0];
        for (numbers, expected) in [
            ([0; 6], [0x6627_e8d5_u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([ones; 6], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            let found = Tensor::zeros(&[4], DType::Int32, device).unwrap();
            let shader = Shader::new("philox").numbers("c", &numbers[..4]).numbers("k", &numbers[4..]);
            shader
                .numbers("counter", &[0; 2])
                .numbers("key", &[0; 2])
                .with(NUMBERS)
                .result_moved("y", &found)
                .threads(
                    4,
                    "    let found = philox(vec4(p.c[0], p.c[1], p.c[2], p.c[3]), vec2(p.k[0], p.k[1]));
    set_y(n, found[n]);",
                )
                .unwrap();
            let found = found.to_vec::<i32>().unwrap();
            assert_eq!(found.iter().map(|word| word.cast_unsigned()).collect::<Vec<_>>(), expected);
        }
    }
}
