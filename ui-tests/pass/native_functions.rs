//! Native functions files: every field, kernels here and in modules.

use torch_library::prelude::*;

torch_library::native_functions!(
    "
- func: pass_native::plain(Tensor self, *, int n=1) -> Tensor
  variants: function, method

- func: pass_native::where.self(Tensor condition, Tensor self) -> Tensor
  variants: method
  device_check: NoCheck
  device_guard: False
  tags: [core, pointwise]
  dispatch:
    CPU, CUDA: nested::select
    Meta: nested::deep::select

- func: pass_native::twice_(Tensor(a!) self) -> Tensor(a!)
  use_const_ref_for_mutable_tensors: True
  dispatch:
    CompositeExplicitAutograd: twice_
  autogen: twice, twice.out

- func: pass_native::sum.out(Tensor self, int[1]? dim=None, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: Base
  python_module: linalg
  cpp_no_default_args: [dim]
  precomputed:
  - dim -> int dim
  dispatch:
    CPU, MPS: sum_out

- func: pass_native::sum(Tensor self, int[1]? dim=None) -> Tensor
  structured_delegate: sum.out

- func: pass_native::split_halves(Tensor(a -> *) self) -> Tensor(a)[]
  manual_cpp_binding: True
  category_override: dummy

- func: pass_native::by_hand(Tensor[] tensors, Tensor? weight) -> (Tensor first, int count)
  manual_kernel_registration: True

- func: pass_other::lists(Tensor?[] indices, str[] names) -> ()
"
);

fn plain(this: &Tensor, n: i64) -> Result<Tensor> {
    Tensor::full(this.sizes(), n, DType::Int64, Device::CPU)
}

mod nested {
    use torch_library::prelude::*;

    pub(super) fn select(_condition: &Tensor, this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    pub(super) mod deep {
        pub(in super::super) use super::select;
    }
}

fn twice_(this: &mut Tensor) -> Result<&mut Tensor> {
    Ok(this)
}

fn sum_meta(this: &Tensor, _dim: Option<&[i64]>) -> Result<Tensor> {
    Tensor::empty(&[], this.dtype(), Device::META)
}

fn sum_out<'a>(this: &Tensor, _dim: Option<&[i64]>, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
    out.fill(this.to_vec::<f64>()?.iter().sum::<f64>())?;
    Ok(out)
}

fn split_halves(this: &Tensor) -> Result<Vec<Tensor>> {
    Ok(vec![this.clone()])
}

fn lists(_: &[Option<Tensor>], _: &[String]) -> Result<()> {
    Ok(())
}

/// Adds to a namespace of the file above, without any kernel.
mod more {
    torch_library::native_functions!(
        "
- func: pass_native::scheme(Tensor self) -> QScheme
- func: pass_native::clone(Tensor self) -> Tensor
  variants: method
",
        declarations,
        extends = super::pass_native,
    );
}

#[test]
fn each_entry_is_an_operator() -> Result<()> {
    use pass_native::TensorMethods;
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(pass_native::plain::with(&x).n(3).call()?.to_vec::<i64>()?, [3, 3]);
    assert_eq!(x.plain()?.to_vec::<i64>()?, [1, 1]);
    assert!(x.where_self(&x)?.is_same(&x));
    assert_eq!(pass_native::sum(&x)?.item()?, Scalar::from(3.0));
    assert_eq!(pass_native::split_halves::call(&x)?.len(), 1);
    assert_eq!(pass_native::by_hand(&[], None).unwrap_err().kind(), ErrorKind::MissingKernel);
    pass_other::lists(&[None], &[])?;
    assert_eq!(more::pass_native::scheme::handle().to_string(), "pass_native::scheme");
    let error = more::pass_native::TensorMethods::copy(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingKernel);
    Ok(())
}
