//! The windows of images as columns.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn columns_meet_what_windows_cover_and_give_it_back() -> Result<()> {
    let x = Tensor::from([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]);
    let columns = aten::im2col(&x, &[2, 2], &[1, 2], &[1, 0], &[2, 1])?;
    assert_eq!(
        (columns.sizes(), columns.to_vec::<f64>()?),
        (&[4, 2][..], vec![0.0, 4.0, 0.0, 6.0, 1.0, 0.0, 3.0, 0.0])
    );
    let back = aten::col2im(&columns, &[2, 3], &[2, 2], &[1, 2], &[1, 0], &[2, 1])?;
    assert_eq!((back.sizes(), back.to_vec::<f64>()?), (&[1, 2, 3][..], vec![1.0, 0.0, 3.0, 4.0, 0.0, 6.0]));
    let ones = aten::ones(&[2, 9, 9])?;
    let counts = aten::col2im(&ones, &[5, 5], &[3, 3], &[1, 1], &[1, 1], &[2, 2])?;
    assert_eq!(counts.to_vec::<f32>()?[..5], [1.0, 2.0, 1.0, 2.0, 1.0]);
    let fold = |rows, columns| {
        aten::col2im(&aten::ones(&[rows, columns])?, &[3, 3], &[2, 2], &[1, 1], &[0, 0], &[1, 1])
    };
    assert!(fold(8, 4).is_ok() && fold(7, 4).is_err() && fold(8, 5).is_err() && fold(0, 4).is_err());
    let unfold = |x: &Tensor, padding| aten::im2col(x, &[2, 2], &[1, 1], &[padding, 0], &[1, 1]);
    assert!(unfold(&x, -1).is_err() && unfold(&x.to_dtype(DType::Int64)?, 0).is_err());
    assert_eq!(unfold(&aten::zeros(&[0, 3, 4, 4])?, 0)?.sizes(), [0, 12, 9]);
    Ok(())
}
