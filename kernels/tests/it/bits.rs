//! The operators behind Python's syntax.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn operators_of_python_are_those_of_bits() -> Result<()> {
    let (mut x, y) = (Tensor::from([6i64, 5, 1]), Tensor::from([3i64, 4, 1]));
    assert_eq!(aten::__and___Tensor(&x, &y)?.to_vec::<i64>()?, [2, 4, 1]);
    assert_eq!(aten::__or___Scalar(&x, 8.into())?.to_vec::<i64>()?, [14, 13, 9]);
    assert_eq!(aten::__xor___Tensor(&x, &y)?.to_vec::<i64>()?, [5, 1, 0]);
    assert_eq!(aten::__lshift___Scalar(&x, 1.into())?.to_vec::<i64>()?, [12, 10, 2]);
    assert_eq!(aten::__rshift___Tensor(&x, &y)?.to_vec::<i64>()?, [0, 0, 0]);
    aten::__ilshift___Scalar(&mut x, 2.into())?;
    aten::__iand___Tensor(&mut x, &Tensor::from([16i64, 16, 16]))?;
    assert_eq!(x.to_vec::<i64>()?, [16, 16, 0]);
    assert!(aten::__and___Scalar(&Tensor::from([1.0]), 1.into()).is_err(), "fractions have no bits");
    assert!(aten::__lshift___Scalar(&x, 1.5.into()).is_err());
    Ok(())
}

#[test]
fn the_result_of_a_logical_function_lies_as_that_of_a_comparison() -> Result<()> {
    let x = aten::zeros(&[10, 5])?.t()?.unsqueeze(1)?.expand(&[5, 10, 10])?;
    let y = aten::zeros(&[10, 5, 10])?.permute(&[1, 2, 0])?;
    let strides = aten::lt_Tensor(&x, &y)?.strides().to_vec();
    assert_eq!(aten::logical_or(&x, &y)?.strides(), strides);
    assert_eq!(aten::logical_xor(&x, &y)?.strides(), strides);
    let repeated = Tensor::from([0, 1, 2]).unsqueeze(0)?.expand(&[2, 3])?;
    let turned = aten::zeros(&[3, 2])?.t()?;
    assert_eq!(
        aten::logical_or(&repeated, &turned)?.strides(),
        aten::lt_Tensor(&repeated, &turned)?.strides()
    );
    Ok(())
}
