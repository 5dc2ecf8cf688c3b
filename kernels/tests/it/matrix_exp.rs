//! Exponentials of matrices.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn matrix() -> Tensor {
    Tensor::from([[0.1, 1.2, -0.3], [0.5, -0.7, 0.2], [2.0, 0.3, 0.4]])
}

/// Checks against the largest element.
#[track_caller]
fn close(found: &Tensor, want: &[f64], tolerance: f64) {
    let found = found.to_dtype(DType::Float64).unwrap().to_vec::<f64>().unwrap();
    let largest = want.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * largest;
    assert!(
        found.len() == want.len() && found.iter().zip(want).all(is_close),
        "{found:?}, expected {want:?}"
    );
}

/// The exponentials of the matrix, and of it times 20 and 0.01, calculated with 50 digits.
const EXPONENTIALS: [[f64; 9]; 3] = [
    [
        1.067965978837409,
        0.8696851224120886,
        -0.2714924847004937,
        0.5726457058285373,
        0.7765556524158647,
        0.10890005100370044,
        2.6510575172972927,
        1.4250115054465528,
        1.1952685859446444,
    ],
    [
        -355.2320729817022,
        -30.90358729404838,
        -254.1057046821102,
        1005.3575111493447,
        1061.8055265776487,
        -179.7049988860896,
        5766.974054634861,
        5839.846536802054,
        -799.3439723145848,
    ],
    [
        1.0010004626760085,
        0.01195960069560787,
        -0.002995521443081856,
        0.005005027447758401,
        0.993057375647896,
        0.0019895192698147197,
        0.02005758491889953,
        0.0031154418522528096,
        1.003980994067944,
    ],
];

#[test]
fn each_matrix_of_a_batch_is_halved_as_its_size_asks_for() -> Result<()> {
    let batch =
        aten::stack(&[matrix(), matrix().mul(20)?, matrix().mul(0.01)?, aten::zeros_like(&matrix())?])?;
    let all = aten::linalg_matrix_exp(&batch)?;
    assert_eq!(all.strides(), [9, 3, 1]);
    for (at, want) in EXPONENTIALS.iter().enumerate() {
        close(&all.select(0, at as i64)?, want, 2e-14);
    }
    assert_eq!(all.select(0, 3)?.to_vec::<f64>()?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let single = aten::matrix_exp(&batch.to_dtype(DType::Float32)?)?;
    close(&single.select(0, 0)?, &EXPONENTIALS[0], 3e-7);
    close(&single.select(0, 1)?, &EXPONENTIALS[1], 3e-5);
    Ok(())
}

#[test]
fn turns_are_exponentials_too() -> Result<()> {
    let turn = aten::linalg_matrix_exp(&Tensor::from([[0.0, 100.0], [-100.0, 0.0]]))?;
    let (sine, cosine) = 100f64.sin_cos();
    close(&turn, &[cosine, sine, -sine, cosine], 1e-13);
    let c = |re, im| Complex64::new(re, im);
    let x = Tensor::from([[c(0.2, 0.5), c(0.0, 1.0)], [c(-0.4, 0.0), c(0.3, -0.1)]]);
    let want = [
        1.1368824598434981,
        0.34439719139633906,
        -0.1616208908392502,
        1.2563500270449441,
        -0.5025400108179776,
        -0.0646483563357001,
        1.3594899970515428,
        -0.3932507357467024,
    ];
    close(&aten::view_as_real(&aten::linalg_matrix_exp(&x)?)?, &want, 1e-15);
    Ok(())
}

#[test]
fn what_is_not_finite_gives_no_numbers_and_what_is_huge_ends() -> Result<()> {
    for x in [f64::NAN, f64::INFINITY] {
        let all = aten::linalg_matrix_exp(&aten::full(&[2, 2], x.into())?)?.to_vec::<f32>()?;
        assert!(all.iter().all(|x| x.is_nan()), "{all:?}");
    }
    let small = aten::linalg_matrix_exp(&aten::eye(2)?.mul(-1e30)?)?;
    assert_eq!(small.to_vec::<f32>()?, [0.0; 4]);
    assert_eq!(aten::linalg_matrix_exp(&aten::zeros(&[3, 0, 0])?)?.sizes(), [3, 0, 0]);
    Ok(())
}

#[test]
fn gradients_are_those_of_differences_and_of_pytorch() -> Result<()> {
    let x = matrix();
    x.set_requires_grad(true)?;
    aten::linalg_matrix_exp(&x)?.select(0, 0)?.select(0, 1)?.backward()?;
    let want = [
        0.50034606473365,
        0.8516758262722337,
        0.5397798324439469,
        0.17330010211980137,
        0.41043421163669397,
        0.15061525910422605,
        -0.048129065839246275,
        -0.11850922077948778,
        -0.04109515395825562,
    ];
    close(&x.grad().unwrap(), &want, 1e-14);
    let c = |re, im| Complex64::new(re, im);
    let complex = Tensor::from([[c(0.2, 0.5), c(0.0, 1.0)], [c(-0.4, 0.0), c(0.3, -0.1)]]);
    for x in [matrix(), complex] {
        x.set_requires_grad(true)?;
        let f = |x: &[Tensor]| Ok(vec![aten::matrix_exp(&x[0])?]);
        gradcheck(f, std::slice::from_ref(&x), Default::default())?;
        gradgradcheck(f, std::slice::from_ref(&x), Default::default())?;
    }
    Ok(())
}

#[test]
fn only_square_matrices_have_exponentials() -> Result<()> {
    let error = aten::linalg_matrix_exp(&aten::ones(&[2, 3])?).unwrap_err().to_string();
    assert_eq!(error, "aten::linalg_matrix_exp: sizes [2, 3], expected square matrices");
    let error = aten::linalg_matrix_exp(&Tensor::from([[1i64]])).unwrap_err().to_string();
    assert!(error.contains("aten::linalg_matrix_exp") && error.contains("int64"), "{error}");
    Ok(())
}
