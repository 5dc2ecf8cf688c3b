//! Operators with all types and all layers, for the Python tests in this folder.

use std::sync::Mutex;
use std::time::Duration;

use torch_library::prelude::*;
use torch_library::{OwnedLease, derivatives};
use torch_library_aten::aten;
use torch_library_aten::prelude::*;
use torch_library_loops::{Pointwise, match_opmath};

mod layers;
mod rows;
mod types;

torch_library_pytorch::export!();

torch_library! {
    /// Operators for each way in which a value or a call passes between PyTorch and Rust.
    pub mod door {
        /// Does nothing.
        nop(Tensor self) -> ();
        /// Does nothing, with three arguments.
        nop3(Tensor self, Tensor other, *, float alpha=1) -> ();
        /// A tensor's metadata, as the kernel sees it.
        describe(Tensor self) -> str;
        /// The elements, in order.
        elements(Tensor self) -> float[];
        /// The hypotenuse.
        #[tags(pointwise)]
        hypotenuse(Tensor self, Tensor other) -> Tensor;
        /// The hypotenuse, as an out variant.
        hypotenuse.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!);
        /// Writes in place, with a scalar argument.
        scale_.Scalar(Tensor(a!) self, Scalar factor=2) -> Tensor(a!);
        /// Writes in place.
        fill_(Tensor(a!) self, float value) -> ();
        /// Writes to a list of tensors in place.
        fill_all_(Tensor(a!)[] tensors, float value) -> ();
        /// Returns the elements of lists as text.
        lists(Tensor[] tensors, Tensor?[] others, int[2] n, float[] f, bool[] b, str[] s) -> str;
        /// Returns optional arguments as text.
        options(Tensor? t, int? n=None, float? f=None, bool? b=None, str? s=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, MemoryFormat? format=None, SymInt[]? list=None) -> str;
        /// Returns scalars as text.
        numbers(Tensor self, Scalar a, Scalar? b=None, *, complex c=1j) -> str;
        /// Returns a view.
        row(Tensor(a) self, int index) -> Tensor(a);
        /// Returns several values of several types.
        parts(Tensor self) -> (Tensor, Tensor[], int, str?, Tensor?, bool, ScalarType);
        /// Fails with an error of the named kind.
        fails(Tensor self, str how) -> Tensor;
        /// A composite of other operators.
        swish(Tensor self) -> Tensor;
        /// A composite of other operators, with a scalar argument.
        shifted(Tensor self, float by) -> Tensor;
        /// A composite that reads elements, which stand-ins lack.
        looks(Tensor self) -> float;
        /// Takes a list and an optional tensor, with derivatives.
        weighted(Tensor[] tensors, Tensor? weight, Scalar factor=1) -> Tensor;
        /// Returns two results, with derivatives.
        both(Tensor self, Tensor other) -> (Tensor, Tensor);
        /// Returns a list, with a derivative.
        halves(Tensor self) -> Tensor[];
        /// Has a formula that names the result.
        expm(Tensor self) -> Tensor;
        /// Has no derivative.
        opaque(Tensor self) -> Tensor;
        /// Resizes a tensor in place.
        grow_(Tensor(a!) self, int size) -> Tensor(a!);
        /// Returns random numbers.
        noise(Tensor self, *, Generator? generator=None) -> Tensor;
        /// Returns a tensor with the conjugate or the negative bit.
        bit(Tensor self, bool negative) -> Tensor;
        /// Returns a view with elements of another type.
        bits(Tensor(a) self) -> Tensor(a);
        /// Keeps a tensor, or a view of it, beyond the call, which may end in a panic.
        keep(Tensor self, *, bool view=False, bool panics=False) -> ();
        /// Reads a tensor on another thread, beyond the call.
        linger(Tensor self, int milliseconds) -> ();
        /// Returns the elements after the first, as a part with leases of its own.
        rest(Tensor(a) self) -> Tensor(a);
        /// Returns the tensor that was kept.
        kept(Tensor self) -> Tensor;
        /// Blocks for a while.
        wait(Tensor self, int milliseconds) -> ();
        /// Takes no tensor.
        count(int n) -> Tensor;
        /// Cannot be called from PyTorch.
        several(Scalar[] numbers) -> ();
    }
}

const NAME: &str = "door::hypotenuse";

#[torch_impl(door, CPU, Meta)]
fn hypotenuse(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(NAME, [this, other])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[a, b]: [T; 2]| a.hypot(b))
    }, else => Err(call.unsupported()))
}

#[torch_impl(door::hypotenuse_out, CPU, Meta)]
fn hypotenuse_out<'a>(this: &Tensor, other: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
    let call = Pointwise::promoting_to_float(NAME, [this, other])?;
    out.resize(&hypotenuse(this, other)?.sizes().to_vec(), None)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(Some(&*out), call.dtype, |[a, b]: [T; 2]| a.hypot(b))
    }, else => Err(call.unsupported()))?;
    Ok(out)
}

derivatives! {
    in door;

    hypotenuse(Tensor self, Tensor other) -> Tensor {
        self => grad.mul(self)?.div(result),
        other => grad.mul(other)?.div(result),
    }

    weighted(Tensor[] tensors, Tensor? weight, Scalar factor=1) -> Tensor {
        tensors => {
            let scaled = scaled(grad, weight, factor)?;
            tensors.iter().map(|_| scaled.clone()).collect::<Vec<_>>()
        },
        weight => {
            let sum = tensors[1..].iter().try_fold(tensors[0].clone(), |sum, tensor| sum.add(tensor))?;
            grad.mul(&sum)?.mul(factor)
        },
    }

    both(Tensor self, Tensor other) -> (Tensor, Tensor) {
        self => sum_of(grads, [Some(other.clone()), Some(aten::ones_like(self)?)]),
        other => sum_of(grads, [Some(self.clone()), Some(aten::ones_like(other)?)]),
    }

    halves(Tensor self) -> Tensor[] {
        self => {
            let parts = grads.iter().flatten().map(|grad| grad.div(2.0));
            aten::cat(&parts.collect::<Result<Vec<_>>>()?)
        },
    }

    expm(Tensor self) -> Tensor {
        self => grad.mul(result),
    }
}

fn scaled(grad: &Tensor, weight: Option<&Tensor>, factor: Scalar) -> Result<Tensor> {
    let scaled = grad.mul(factor)?;
    match weight {
        Some(weight) => scaled.mul(weight),
        None => Ok(scaled),
    }
}

/// The sum of the products of the gradients and their factors.
fn sum_of(grads: &[Option<Tensor>], factors: [Option<Tensor>; 2]) -> Result<Tensor> {
    let products = grads.iter().zip(factors).filter_map(|(grad, factor)| Some(grad.as_ref()?.mul(&factor?)));
    let products = products.collect::<Result<Vec<_>>>()?;
    products[1..].iter().try_fold(products[0].clone(), |sum, product| sum.add(product))
}

#[torch_impl(door::swish, CompositeImplicitAutograd)]
fn swish(this: &Tensor) -> Result<Tensor> {
    this.mul(&aten::sigmoid(this)?)
}

#[torch_impl(door::shifted, CompositeImplicitAutograd)]
fn shifted(this: &Tensor, by: f64) -> Result<Tensor> {
    this.mul(this)?.add(by)?.add(&Tensor::full(&[], 1.0, this.dtype(), Device::CPU)?)
}

#[torch_impl(door::looks, CompositeImplicitAutograd)]
fn looks(this: &Tensor) -> Result<f64> {
    Ok(this.to_vec::<f64>()?.iter().sum())
}

#[torch_impl(door::swish, AutocastCPU)]
fn swish_autocast(this: &Tensor) -> Result<Tensor> {
    swish(this)
}

#[torch_impl(door::numbers, CompositeExplicitAutograd)]
fn numbers(_: &Tensor, a: Scalar, b: Option<Scalar>, c: torch_library::element::Complex64) -> Result<String> {
    Ok(format!("{a:?} {b:?} {c}"))
}

#[torch_impl(door::count, CompositeExplicitAutograd)]
fn count(n: i64) -> Result<Tensor> {
    Tensor::from_vec((0..n).collect(), &[n])
}

#[torch_impl(door, Meta)]
mod shapes {
    use torch_library::prelude::*;

    fn weighted(tensors: &[Tensor], _: Option<&Tensor>, _: Scalar) -> Result<Tensor> {
        let first = &tensors[0];
        Tensor::empty(first.sizes(), first.dtype(), first.device())
    }

    fn both(this: &Tensor, _: &Tensor) -> Result<(Tensor, Tensor)> {
        let same = || Tensor::empty(this.sizes(), this.dtype(), this.device());
        Ok((same()?, same()?))
    }

    fn halves(this: &Tensor) -> Result<Vec<Tensor>> {
        let half = || Tensor::empty(&[this.sizes()[0] / 2], this.dtype(), this.device());
        Ok(vec![half()?, half()?])
    }

    fn expm(this: &Tensor) -> Result<Tensor> {
        Tensor::empty(this.sizes(), this.dtype(), this.device())
    }

    fn row(this: &Tensor, index: i64) -> Result<Tensor> {
        super::row(this, index)
    }

    fn fill_(_: &mut Tensor, _: f64) -> Result<()> {
        Ok(())
    }

    fn scale__Scalar(this: &mut Tensor, _: Scalar) -> Result<&mut Tensor> {
        Ok(this)
    }
}

fn row(this: &Tensor, index: i64) -> Result<Tensor> {
    ensure!((0..this.sizes()[0]).contains(&index), Argument, "there is no row {index}");
    let offset = this.storage_offset() + index * this.strides()[0];
    this.strided_view(&this.sizes()[1..], &this.strides()[1..], offset)
}

fn of_values(this: &Tensor, f: impl Fn(f64) -> f64) -> Result<Tensor> {
    let values = aten::to_dtype(this, DType::Float64)?.to_vec::<f64>()?;
    Tensor::from_vec(values.into_iter().map(f).collect(), this.sizes())
}

static KEPT: Mutex<Option<Tensor>> = Mutex::new(None);

#[torch_impl(door, CPU)]
mod cpu {
    use super::*;

    fn nop(_: &Tensor) -> Result<()> {
        Ok(())
    }

    fn nop3(_: &Tensor, _: &Tensor, _: f64) -> Result<()> {
        Ok(())
    }

    fn describe(this: &Tensor) -> Result<String> {
        let (sizes, strides, offset) = (this.sizes(), this.strides(), this.storage_offset());
        Ok(format!("{} {sizes:?} {strides:?} {offset} {}", this.dtype(), this.device()))
    }

    fn elements(this: &Tensor) -> Result<Vec<f64>> {
        aten::to_dtype(this, DType::Float64)?.to_vec::<f64>()
    }

    fn scale__Scalar(this: &mut Tensor, factor: Scalar) -> Result<&mut Tensor> {
        aten::mul__Scalar(this, factor)?;
        Ok(this)
    }

    fn fill_(this: &mut Tensor, value: f64) -> Result<()> {
        aten::fill__Scalar(this, value.into()).map(drop)
    }

    fn fill_all_(tensors: &mut [Tensor], value: f64) -> Result<()> {
        tensors.iter_mut().try_for_each(|tensor| fill_(tensor, value))
    }

    fn lists(
        tensors: &[Tensor],
        others: &[Option<Tensor>],
        n: &[i64],
        f: &[f64],
        b: &[bool],
        s: &[String],
    ) -> Result<String> {
        let sizes: Vec<_> = tensors.iter().map(|tensor| tensor.sizes().to_vec()).collect();
        let others: Vec<_> = others.iter().map(|other| other.as_ref().map(Tensor::numel)).collect();
        Ok(format!("{sizes:?} {others:?} {n:?} {f:?} {b:?} {s:?}"))
    }

    #[expect(clippy::too_many_arguments, reason = "one of each type")]
    fn options(
        t: Option<&Tensor>,
        n: Option<i64>,
        f: Option<f64>,
        b: Option<bool>,
        s: Option<&str>,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        format: Option<MemoryFormat>,
        list: Option<&[i64]>,
    ) -> Result<String> {
        let t = t.map(Tensor::numel);
        Ok(format!("{t:?} {n:?} {f:?} {b:?} {s:?} {dtype:?} {layout:?} {device:?} {format:?} {list:?}"))
    }

    fn row(this: &Tensor, index: i64) -> Result<Tensor> {
        super::row(this, index)
    }

    fn parts(
        this: &Tensor,
    ) -> Result<(Tensor, Vec<Tensor>, i64, Option<String>, Option<Tensor>, bool, DType)> {
        let whole = of_values(this, |x| x)?;
        Ok((whole.clone(), vec![whole.clone(), whole], 7, None, None, true, DType::Int16))
    }

    fn fails(this: &Tensor, how: &str) -> Result<Tensor> {
        match how {
            "error" => bail!(Shape, "sizes {:?} do not please \u{e9}\0", this.sizes()),
            "index" => bail!(Index, "index"),
            "argument" => bail!(Argument, "argument"),
            "dtype" => bail!(DType, "dtype"),
            "unsupported" => bail!(NotSupported, "unsupported"),
            "kernel" => bail!(Kernel, "kernel"),
            "schema" => bail!(Schema, "schema"),
            "type" => bail!(Type, "type"),
            "missing" => bail!(MissingKernel, "missing"),
            "device" => bail!(Device, "device"),
            "busy" => bail!(Busy, "busy"),
            "autograd" => bail!(Autograd, "autograd"),
            "memory" => bail!(OutOfMemory, "memory"),
            "panic" => panic!("it was too much for {}", this.numel()),
            "nested" => aten::add(this, &Tensor::from_vec(vec![1.0; 77], &[77])?),
            _ => Ok(of_values(this, |x| x)?),
        }
    }

    fn weighted(tensors: &[Tensor], weight: Option<&Tensor>, factor: Scalar) -> Result<Tensor> {
        let sum = tensors[1..].iter().try_fold(tensors[0].clone(), |sum, tensor| sum.add(tensor))?;
        scaled(&sum, weight, factor)
    }

    fn both(this: &Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((this.mul(other)?, this.add(other)?))
    }

    fn halves(this: &Tensor) -> Result<Vec<Tensor>> {
        let half = this.sizes()[0] / 2;
        let part = |start| aten::div_Scalar(&aten::narrow(this, 0, start, half)?, 2.0.into());
        Ok(vec![part(0)?, part(half)?])
    }

    fn expm(this: &Tensor) -> Result<Tensor> {
        aten::exp(this)
    }

    fn opaque(this: &Tensor) -> Result<Tensor> {
        of_values(this, |x| x)
    }

    fn grow_(this: &mut Tensor, size: i64) -> Result<&mut Tensor> {
        this.resize(&[size], None)?;
        this.fill_from((0..size).map(|index| index as f32))?;
        Ok(this)
    }

    fn noise(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        let Some(generator) = generator else { bail!(Argument, "a generator comes with every call") };
        Tensor::from_vec((0..this.numel()).map(|_| i64::from(generator.random())).collect(), this.sizes())
    }

    fn bit(this: &Tensor, negative: bool) -> Result<Tensor> {
        let complex = aten::complex(this, this)?;
        if negative { aten::_neg_view(&complex) } else { aten::_conj(&complex) }
    }

    fn bits(this: &Tensor) -> Result<Tensor> {
        aten::view_dtype(this, DType::Int16)
    }

    fn keep(this: &Tensor, view: bool, panics: bool) -> Result<()> {
        let kept = if view { aten::narrow(this, 0, 1, 2)? } else { this.clone() };
        *KEPT.lock().unwrap() = Some(kept);
        assert!(!panics, "something went wrong");
        Ok(())
    }

    fn linger(this: &Tensor, milliseconds: i64) -> Result<()> {
        let reading = OwnedLease::shared(this.clone())?;
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(milliseconds as u64));
            drop(reading);
        });
        Ok(())
    }

    fn rest(this: &Tensor) -> Result<Tensor> {
        let size = this.sizes()[0] - 1;
        Ok(this.clone().disjoint_parts(0, &[1, size])?.remove(1))
    }

    fn kept(_: &Tensor) -> Result<Tensor> {
        match &*KEPT.lock().unwrap() {
            Some(kept) => Ok(kept.clone()),
            None => bail!(Argument, "nothing is kept"),
        }
    }

    fn wait(_: &Tensor, milliseconds: i64) -> Result<()> {
        std::thread::sleep(Duration::from_millis(milliseconds as u64));
        Ok(())
    }
}
