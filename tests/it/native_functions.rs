//! Operators that are declared by a file in PyTorch's format.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, Dispatcher, Storage, native_functions};
use torch_library_kernels as _; // the operators that copy, for derived kernels

native_functions!("native_functions.yaml", kernels = self::kernels);

use yaml_ops::TensorMethods;

/// The kernels that the dispatch tables name.
mod kernels {
    use torch_library::prelude::*;

    pub(super) fn twice(this: &Tensor) -> Result<Tensor> {
        let values = this.to_vec::<f64>()?;
        Tensor::from_vec(values.into_iter().map(|value| 2.0 * value).collect(), this.sizes())
    }

    pub(super) fn triple_(this: &mut Tensor, times: i64) -> Result<&mut Tensor> {
        let values = this.to_vec::<f64>()?;
        this.fill_from(values.into_iter().map(|value| 3f64.powi(times as i32) * value))?;
        Ok(this)
    }

    pub(super) fn count(this: &Tensor, counter: &mut Tensor) -> Result<Tensor> {
        let before: f64 = counter.item()?.to()?;
        counter.fill(before + this.numel() as f64)?;
        twice(this)
    }

    pub(super) mod fast {
        use torch_library::prelude::*;

        pub(in super::super) fn pair_out<'a>(
            this: &Tensor,
            other: &Tensor,
            scale: i64,
            out: &'a mut Tensor,
        ) -> Result<&'a mut Tensor> {
            let pairs = this.to_vec::<f64>()?.into_iter().zip(other.to_vec::<f64>()?);
            out.fill_from(pairs.map(|(a, b)| a + scale as f64 * b).collect::<Vec<_>>())?;
            Ok(out)
        }
    }

    pub(super) fn pair_meta(this: &Tensor, other: &Tensor, _scale: i64) -> Result<Tensor> {
        ensure!(this.sizes() == other.sizes(), Shape, "sizes {:?}, {:?}", this.sizes(), other.sizes());
        Tensor::empty(this.sizes(), this.dtype(), Device::META)
    }

    pub(super) fn together(this: &Tensor, _other: Option<&Tensor>) -> Result<i64> {
        Ok(this.numel())
    }
}

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

#[test]
fn without_a_table_the_kernel_has_the_operators_name() {
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(values(&yaml_ops::twice(&x).unwrap()), [2.0, 4.0]);
    assert_eq!(values(&x.twice().unwrap()), [2.0, 4.0]);
    let table = Dispatcher::global().table("yaml_ops::twice").unwrap();
    assert!(format!("{table:?}").contains("CompositeImplicitAutograd"));
    assert_eq!(yaml_ops::twice::handle().tags(), ["pointwise"]);
}

#[test]
fn places_are_in_the_file() {
    let place = yaml_ops::triple_::handle().place();
    assert_eq!((place.file(), place.line), ("native_functions.yaml", 7));
}

#[test]
fn variants_are_derived_from_the_operator_in_place() {
    let mut x = Tensor::from([1.0, 2.0]);
    assert_eq!(values(&yaml_ops::triple(&x).unwrap()), [3.0, 6.0]);
    assert_eq!(values(&x), [1.0, 2.0]);
    let mut out = Tensor::from([0.0]);
    let returned = yaml_ops::triple_out::call(&x, 2, &mut out).unwrap().clone();
    assert!(returned.is_same(&out));
    assert_eq!(values(&out), [9.0, 18.0]);
    assert_eq!(values(x.triple_().unwrap()), [3.0, 6.0]);
    assert_eq!(values(&x), [3.0, 6.0]);
    assert!(yaml_ops::triple::handle().tags().contains(&"generated"));
}

#[test]
fn what_an_operator_writes_to_is_returned_by_its_functional_variant() {
    let (x, mut counter) = (Tensor::from([1.0, 2.0]), Tensor::from(10.0));
    let (doubled, counted) = yaml_ops::count_functional(&x, &counter).unwrap();
    assert_eq!((values(&doubled), values(&counted)), (vec![2.0, 4.0], vec![12.0]));
    assert_eq!(values(&counter), [10.0]);
    let mut out = Tensor::from([0.0, 0.0]);
    yaml_ops::count_out(&x, &mut counter, &mut out).unwrap();
    assert_eq!((values(&out), values(&counter)), (vec![2.0, 4.0], vec![12.0]));
}

#[test]
fn variants_of_a_structured_operator_share_its_kernel() {
    let (mut x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, 20.0]));
    assert_eq!(values(&yaml_ops::pair(&x, &y).unwrap()), [11.0, 22.0]);
    let mut out = Tensor::from([0.0]);
    yaml_ops::pair_out::call(&x, &y, 2, &mut out).unwrap();
    assert_eq!(values(&out), [21.0, 42.0]);
    assert_eq!(values(x.pair_(&y).unwrap()), [11.0, 22.0]);
    let meta = Tensor::empty(&[2], DType::Float64, Device::META).unwrap();
    let described = yaml_ops::pair(&meta, &meta).unwrap();
    assert_eq!((described.sizes(), described.device()), (&[2][..], Device::META));
    let error = yaml_ops::pair(&x, &Tensor::from([1.0])).unwrap_err();
    assert_eq!(error.to_string(), "yaml_ops::pair: sizes [2], [1]");
    let mut narrow = Tensor::from([1f32, 2.0]);
    let error = yaml_ops::pair_out::call(&x, &y, 1, &mut narrow).unwrap_err();
    assert_eq!(error.to_string(), "yaml_ops::pair.out: the result is of float64, `out` of float32");
}

fn on_gpu(index: u8) -> Tensor {
    let device = Device::new(torch_library::DeviceType::Cuda, Some(index));
    let keys = DispatchKeySet::from_key(DispatchKey::CUDA);
    let storage = Storage::without_data(8, device);
    Tensor::from_storage(storage, &[2], &[1], 0, DType::Float32, keys).unwrap()
}

#[test]
fn tensors_on_two_devices_are_refused_unless_the_entry_says_so() {
    let (x, y) = (on_gpu(0), on_gpu(1));
    assert_eq!(yaml_ops::together::call(&x, None).unwrap(), 2);
    assert_eq!(yaml_ops::apart::call(&x, Some(&y)).unwrap(), 2);
    let error = yaml_ops::together::call(&x, Some(&y)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml_ops::together: expected all tensors on one device, `self` is on cuda:0 and `other` on cuda:1"
    );
}

#[test]
fn what_is_left_to_somebody_else_is_declared_alone() {
    let x = Tensor::from([1.0]);
    assert_eq!(yaml_ops::by_hand::call(&x).unwrap_err().kind(), ErrorKind::MissingKernel);
    assert_eq!(beside::empty_handed(&x).unwrap_err().kind(), ErrorKind::MissingKernel);
    assert_eq!(beside::empty_handed::handle().to_string(), "beside::empty_handed");
}

#[test]
fn every_field_is_kept() {
    let find = |name: &str| {
        let named = |function: &&torch_library::NativeFunction| function.operator().to_string() == name;
        *yaml_ops::NATIVE_FUNCTIONS.iter().chain(beside::NATIVE_FUNCTIONS).find(named).unwrap()
    };
    let pair = find("yaml_ops::pair.out");
    assert!(pair.structured && pair.device_check && pair.device_guard);
    assert_eq!(pair.python_module, Some("special"));
    assert_eq!(pair.dispatch, [(&["CPU"][..], "fast::pair_out")]);
    assert_eq!(find("yaml_ops::pair").structured_delegate, Some("pair.out"));
    let apart = find("yaml_ops::apart");
    assert!(!apart.device_check && !apart.device_guard);
    let triple = find("yaml_ops::triple_");
    assert!(triple.is_method && !triple.is_function);
    assert_eq!(triple.autogen, ["triple", "triple.out"]);
    assert_eq!(find("yaml_ops::triple.out").generated_from, Some("triple_"));
    assert!(find("yaml_ops::by_hand").manual_kernel_registration);
    assert_eq!(find("beside::empty_handed").category_override, Some("factory"));
}
