//! Libraries that a macro declares, with parts of its caller.

use torch_library::prelude::*;

macro_rules! library {
    ($(#[$attribute:meta])* $operator:ident, $schema:literal, $($more:tt)*) => {
        torch_library! {
            /// The attribute is the caller's, the schema is the macro's.
            mod in_macros {
                $(#[$attribute])*
                $operator(Tensor self, float by) -> Tensor;
                $schema;
                #[variants(out, in_place)]
                $($more)*;
            }
        }
    };
}

library!(#[variants(out, in_place)] scaled, "length(Tensor self, str end='') -> int", same(Tensor self) -> Tensor);

#[torch_impl(in_macros, CPU)]
fn scaled(output: Output<'_>, this: &Tensor, by: f64) -> Result<Tensor> {
    let scaled = this.to_vec::<f64>()?.iter().map(|x| x * by).collect::<Vec<_>>();
    let mut out = output.contiguous(this.sizes(), DType::Float64, Device::CPU, &[])?;
    out.fill_from(scaled)?;
    Ok(out)
}

#[torch_impl(in_macros, CPU)]
fn length(this: &Tensor, end: &str) -> Result<i64> {
    Ok(this.numel() + end.len() as i64)
}

#[torch_impl(in_macros, CPU)]
fn same(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    scaled(output, this, 1.0)
}

#[test]
fn each_part_sees_the_others() -> Result<()> {
    let (mut x, mut out) = (Tensor::from([1.0, 2.0]), Tensor::empty(&[0], DType::Float64, Device::CPU)?);
    in_macros::scaled_out(&x, 3.0, &mut out)?;
    in_macros::scaled_(&mut x, 2.0)?;
    in_macros::same_(&mut x)?;
    assert_eq!((out.to_vec::<f64>()?, x.to_vec::<f64>()?), (vec![3.0, 6.0], vec![2.0, 4.0]));
    assert_eq!(in_macros::length(&x)?, 2);
    Ok(())
}
