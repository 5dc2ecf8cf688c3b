//! A driver and NVRTC without cuBLAS: matrix products by tiles.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

mod emulator;
mod found;

#[test]
fn without_cublas_matrices_are_multiplied_by_tiles() {
    if found::has_gpu() || found::finds("libcublas.so") {
        return eprintln!("skipped: cuBLAS is here, or a GPU");
    }
    let Some(device) = emulator::device(&emulator::ALL[..2]) else { return };
    let matrix = |sizes: &[i64], seed: i64| {
        let count = sizes.iter().product::<i64>();
        Tensor::from_vec((0..count).map(|i| ((i * 7 + seed) % 11 - 5) as f32).collect(), sizes).unwrap()
    };
    for (rows, inner, columns) in [(1, 1, 1), (3, 5, 2), (16, 16, 16), (33, 47, 65), (100, 1, 7)] {
        let (x, y) = (matrix(&[rows, inner], 0), matrix(&[columns, inner], 4));
        let (there, other) = (x.to(device).unwrap(), y.to(device).unwrap());
        let found = there.mm(&other.t().unwrap()).unwrap();
        assert_eq!(found.to_vec::<f32>().unwrap(), x.mm(&y.t().unwrap()).unwrap().to_vec::<f32>().unwrap());
        let bias = matrix(&[columns], 3);
        let sums = |x: &Tensor, y: &Tensor, bias: &Tensor| {
            aten::addmm::call(bias, x, &y.t()?, 2.into(), 3.into())?.to_vec::<f32>()
        };
        let found = sums(&there, &other, &bias.to(device).unwrap()).unwrap();
        assert_eq!(found, sums(&x, &y, &bias).unwrap());
    }
}
