//! Functions of one number.

use torch_library::prelude::*;
use torch_library_kernels::prelude::*;

#[test]
fn relu_keeps_nan_and_negative_zero() -> Result<()> {
    let y = Tensor::from([-1.0, -0.0, f64::NAN, 2.0]).relu()?.to_vec::<f64>()?;
    assert_eq!(y[0].to_bits(), 0);
    assert!(y[1].is_sign_negative() && y[2].is_nan() && y[3] == 2.0);
    assert_eq!(Tensor::from([-3i8, 3]).relu()?.to_vec::<i8>()?, [0, 3]);
    assert_eq!(
        Tensor::from([true]).relu().unwrap_err().to_string(),
        "aten::relu is not implemented for bool"
    );
    Ok(())
}
