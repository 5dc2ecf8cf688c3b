//! Reductions.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn sums_run_over_any_dimensions() -> Result<()> {
    let x = Tensor::from_vec((0..24).collect::<Vec<i32>>(), &[2, 3, 4])?;
    assert_eq!(x.sum()?.item()?, Scalar::Int(276));
    assert_eq!(x.sum_dim(&[0], false)?.to_vec::<i64>()?, [12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34]);
    assert_eq!(x.sum_dim(&[-1], false)?.to_vec::<i64>()?, [6, 22, 38, 54, 70, 86]);
    let outer = x.sum_dim(&[0, 2], true)?;
    assert_eq!((outer.sizes(), outer.to_vec::<i64>()?), (&[1, 3, 1][..], vec![60, 92, 124]));
    assert_eq!(x.permute(&[2, 0, 1])?.sum_dim(&[1, 2], false)?.to_vec::<i64>()?, [60, 66, 72, 78]);
    assert!(x.sum_dim(&[0, -3], false).is_err() && x.sum_dim(&[3], false).is_err());
    Ok(())
}

#[test]
fn nothing_sums_to_zero_and_has_no_mean() -> Result<()> {
    let x = aten::zeros(&[2, 0])?;
    assert_eq!(x.sum_dim(&[1], false)?.to_vec::<f32>()?, [0.0, 0.0]);
    assert!(x.mean_dim(&[1], false)?.to_vec::<f32>()?.iter().all(|x| x.is_nan()));
    assert_eq!(x.sum_dim(&[0], false)?.sizes(), [0]);
    Ok(())
}

#[test]
fn means_are_floating_point() -> Result<()> {
    let x = Tensor::from([1i64, 2, 4]);
    assert!(x.mean().unwrap_err().to_string().contains("is no int64"));
    assert_eq!(aten::mean::with(&x).dtype(Some(DType::Float64)).call()?.item()?, Scalar::Float(7.0 / 3.0));
    Ok(())
}

#[test]
fn long_sums_lose_little() -> Result<()> {
    let n = 1_000_000;
    let x = Tensor::from_vec(vec![0.1f32; n], &[n as i64])?;
    let want = 0.1f32 as f64 * n as f64;
    for sum in [x.sum()?, x.view(&[1000, 1000])?.sum_dim(&[0], false)?.sum()?] {
        let sum: f64 = sum.item()?.to()?;
        assert!((sum - want).abs() < 1e-6 * want, "{sum} instead of {want}");
    }
    let halves = Tensor::from_vec(vec![f16::ONE; 5000], &[5000])?;
    assert_eq!(halves.sum()?.item()?, Scalar::Float(5000.0));
    Ok(())
}
