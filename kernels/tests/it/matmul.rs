//! Matrix products.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn products_take_any_strides() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(x.mm(&x.t()?)?.to_vec::<f64>()?, [14.0, 32.0, 32.0, 77.0]);
    assert_eq!(x.t()?.mm(&x)?.to_vec::<f64>()?, [17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]);
    Ok(())
}

#[test]
fn every_number_type_has_products() -> Result<()> {
    for dtype in
        [DType::UInt8, DType::Int64, DType::Float16, DType::BFloat16, DType::Float32, DType::Complex64]
    {
        let x = Tensor::from([[1, 2], [3, 4]]).to_dtype(dtype)?;
        let product = x.mm(&x)?;
        assert_eq!(product.dtype(), dtype);
        assert_eq!(product.to_dtype(DType::Int32)?.to_vec::<i32>()?, [7, 10, 15, 22], "{dtype}");
    }
    Ok(())
}

#[test]
fn sizes_and_types_must_meet() -> Result<()> {
    let x = aten::zeros(&[2, 3])?;
    assert_eq!(
        x.mm(&x).unwrap_err().to_string(),
        "aten::mm: a 2 × 3 and a 2 × 3 matrix have no product, 3 and 2 differ"
    );
    assert!(x.mm(&x.t()?.to_dtype(DType::Float64)?).is_err() && x.mm(&aten::zeros(&[3])?).is_err());
    assert_eq!(aten::zeros(&[2, 0])?.mm(&aten::zeros(&[0, 3])?)?.to_vec::<f32>()?, [0.0; 6]);
    Ok(())
}
