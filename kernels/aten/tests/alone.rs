//! This crate without those of the other families: its operators run, and the others fail with the name of their crate.

use torch_library::prelude::*;
use torch_library_aten::aten;

#[test]
fn core_families_need_no_other_crate() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let w = Tensor::from([[1.0, 0.0], [0.0, 2.0]]);
    w.set_requires_grad(true).unwrap();
    let y = aten::sum(&aten::relu(&aten::mm(&x, &w).unwrap()).unwrap()).unwrap();
    y.backward().unwrap();
    assert_eq!(y.item().unwrap().to::<f64>().unwrap(), 16.0);
    assert_eq!(w.grad().unwrap().to_vec::<f64>().unwrap(), [4.0, 4.0, 6.0, 6.0]);
}

#[test]
fn a_family_that_is_not_linked_names_its_crate() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    for (outcome, krate) in [
        (aten::softmax_int(&x, 0), "torch_library_nn"),
        (aten::linalg_solve(&x, &x), "torch_library_linalg"),
        (aten::linalg_householder_product(&x, &x), "torch_library_linalg"),
        (aten::fft_fft::with(&x).call(), "torch_library_fourier"),
    ] {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingKernel);
        let text = error.to_string();
        assert!(text.contains(&format!("did you forget `use {krate} as _;`?")), "{text}");
    }
}
