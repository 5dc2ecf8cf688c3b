//! Sequences and random numbers in new tensors.

use torch_library::element::Complex64;
use torch_library::geometry::infer_size;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::{collected, is_plain};
use crate::aten;
use crate::functions::Functions;
use crate::loops;
use crate::loops::{numbered, of_numbers};
use crate::random::default_generator;
use crate::unseen::unseen;
use series::closed_series;
pub(crate) use series::series;
use triangle::Triangle;

mod series;
pub(crate) mod triangle;

/// The properties of a new tensor, besides its sizes.
///
/// PyTorch: `at::TensorOptions`.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub dtype: Option<DType>,
    pub layout: Option<Layout>,
    pub device: Option<Device>,
    pub pin_memory: Option<bool>,
    /// Whether the tensor is on the CPU, where it need not be filled with zeros before it is written.
    pub is_of_cpu: bool,
}

impl Options {
    fn empty(self, sizes: &[i64]) -> Result<Tensor> {
        aten::empty_memory_format::call(sizes, self.dtype, self.layout, self.device, self.pin_memory, None)
    }

    /// A new tensor that is filled before any layer sees it.
    fn filled(self, sizes: &[i64], fill: impl FnOnce(&mut Tensor) -> Result<()>) -> Result<Tensor> {
        let mut out = self.empty(sizes)?;
        unseen(|| fill(&mut out))?;
        Ok(out)
    }

    /// A vector of `count` numbers of a sequence.
    fn series<N: Element>(
        self,
        operator: &str,
        count: i64,
        number: impl Fn(i64) -> N + Sync,
    ) -> Result<Tensor> {
        if self.is_of_cpu {
            let device = self.device.unwrap_or(Device::CPU);
            return match_dtype!(self.dtype.unwrap_or(DType::DEFAULT), T => {
                of_numbers(&[count], device, |i| number(i).cast::<T>()).map_err(|error| error.context(operator))
            });
        }
        let mut out = self.empty(&[count])?;
        match_dtype!(out.dtype(), T => {
            if is_plain(&out)? {
                numbered(&out, |i| number(i).cast::<T>())?;
            } else {
                let numbers = collected(operator, count, |i| number(i).cast::<T>())?;
                let numbers = Tensor::from_vec(numbers, &[count])?;
                unseen(|| aten::copy_(&mut out, &numbers).map(drop))?;
            }
        });
        Ok(out)
    }
}

/// Defines kernels that create a tensor, in a module: their last parameters, the same for all, are [`Options`].
macro_rules! creating {
    ($key:ident, $module:ident; $($name:ident($($argument:ident: $ty:ty),*), $options:ident => $body:expr;)+) => {
        #[torch_impl(aten, $key)]
        mod $module {
            use super::*;

            $(
                fn $name(
                    $($argument: $ty,)*
                    dtype: Option<DType>,
                    layout: Option<Layout>,
                    device: Option<Device>,
                    pin_memory: Option<bool>,
                ) -> Result<Tensor> {
                    let $options = Options { dtype, layout, device, pin_memory, is_of_cpu: false };
                    $body
                }
            )+
        }
    };
}

pub(crate) use creating;

creating! { CompositeExplicitAutograd, creation;
    arange(end: Scalar), options => series(0.into(), end, 1.into(), options);
    arange_start(start: Scalar, end: Scalar), options => series(start, end, 1.into(), options);
    arange_start_step(start: Scalar, end: Scalar, step: Scalar), options => series(start, end, step, options);
    range(start: Scalar, end: Scalar), options => closed_series(start, end, 1.into(), options);
    range_step(start: Scalar, end: Scalar, step: Scalar), options => closed_series(start, end, step, options);
    linspace(start: Scalar, end: Scalar, steps: i64), options => evenly_spaced(start, end, steps, options);
    eye(n: i64), options => identity(n, n, options);
    eye_m(n: i64, m: i64), options => identity(n, m, options);
    rand(size: &[i64]), options => options.filled(size, |out| aten::uniform_(out).map(drop));
    rand_generator(size: &[i64], generator: Option<&Generator>), options =>
        options.filled(size, |out| aten::uniform_::with(out).generator(generator).call().map(drop));
    randn(size: &[i64]), options => options.filled(size, |out| aten::normal_(out).map(drop));
    randn_generator(size: &[i64], generator: Option<&Generator>), options =>
        options.filled(size, |out| aten::normal_::with(out).generator(generator).call().map(drop));
    randint(high: i64, size: &[i64]), options =>
        options.filled(size, |out| aten::random__from(out, 0, Some(high)).map(drop));
    randint_low(low: i64, high: i64, size: &[i64]), options =>
        options.filled(size, |out| aten::random__from(out, low, Some(high)).map(drop));
    randint_generator(high: i64, size: &[i64], generator: Option<&Generator>), options =>
        options.filled(size, |out| aten::random__from::with(out, 0, Some(high)).generator(generator).call().map(drop));
    randint_low_generator(low: i64, high: i64, size: &[i64], generator: Option<&Generator>), options =>
        options.filled(size, |out| {
            aten::random__from::with(out, low, Some(high)).generator(generator).call().map(drop)
        });
    normal_float_float(mean: f64, std: f64, size: &[i64], generator: Option<&Generator>), options =>
        options.filled(size, |out| aten::normal_::call(out, mean, std, generator).map(drop));
    logspace(start: Scalar, end: Scalar, steps: i64, base: f64), options => powers(start, end, steps, base, options);
    linspace_Tensor_Tensor(start: &Tensor, end: &Tensor, steps: i64), options =>
        evenly_spaced(
            the_end(aten::linspace_Tensor_Tensor::NAME, start)?,
            the_end(aten::linspace_Tensor_Tensor::NAME, end)?,
            steps,
            options,
        );
    linspace_Tensor_Scalar(start: &Tensor, end: Scalar, steps: i64), options =>
        evenly_spaced(the_end(aten::linspace_Tensor_Scalar::NAME, start)?, end, steps, options);
    linspace_Scalar_Tensor(start: Scalar, end: &Tensor, steps: i64), options =>
        evenly_spaced(start, the_end(aten::linspace_Scalar_Tensor::NAME, end)?, steps, options);
    logspace_Tensor_Tensor(start: &Tensor, end: &Tensor, steps: i64, base: f64), options =>
        powers(
            the_end(aten::logspace_Tensor_Tensor::NAME, start)?,
            the_end(aten::logspace_Tensor_Tensor::NAME, end)?,
            steps,
            base,
            options,
        );
    logspace_Tensor_Scalar(start: &Tensor, end: Scalar, steps: i64, base: f64), options =>
        powers(the_end(aten::logspace_Tensor_Scalar::NAME, start)?, end, steps, base, options);
    logspace_Scalar_Tensor(start: Scalar, end: &Tensor, steps: i64, base: f64), options =>
        powers(start, the_end(aten::logspace_Scalar_Tensor::NAME, end)?, steps, base, options);
    tril_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::tril_indices::NAME, [row, col], offset, true, options);
    triu_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::triu_indices::NAME, [row, col], offset, false, options);
    scalar_tensor(s: Scalar), options => options.filled(&[], |out| aten::fill__Scalar(out, s).map(drop));
    randperm(n: i64), options => shuffled(n, None, options);
    randperm_generator(n: i64, generator: Option<&Generator>), options => shuffled(n, generator, options);
}

/// The start or end of a sequence, from a tensor without dimensions.
fn the_end(operator: &str, end: &Tensor) -> Result<Scalar> {
    ensure!(
        end.dim() == 0,
        Shape,
        "{operator}: an end of sizes {:?}, expected a tensor without dimensions",
        end.sizes()
    );
    end.item().map_err(|error| error.context(operator))
}

/// Defines kernels that fill a new tensor with the properties of another.
macro_rules! resembling {
    ($($name:ident($($argument:ident: $ty:ty),*) => |$out:ident| $fill:expr;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod resembling {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    $($argument: $ty,)*
                    dtype: Option<DType>,
                    layout: Option<Layout>,
                    device: Option<Device>,
                    pin_memory: Option<bool>,
                    memory_format: Option<MemoryFormat>,
                ) -> Result<Tensor> {
                    let mut out = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
                    let $out = &mut out;
                    unseen(|| $fill.map(drop))?;
                    Ok(out)
                }
            )+
        }
    };
}

resembling! {
    rand_like() => |out| aten::uniform_(out);
    randn_like() => |out| aten::normal_(out);
    rand_like_generator(generator: Option<&Generator>) => |out| aten::uniform_::with(out).generator(generator).call();
    randn_like_generator(generator: Option<&Generator>) => |out| aten::normal_::with(out).generator(generator).call();
    randint_like_generator(high: i64, generator: Option<&Generator>) => |out|
        aten::random__from::with(out, 0, Some(high)).generator(generator).call();
    randint_like_low_generator_dtype(low: i64, high: i64, generator: Option<&Generator>) => |out|
        aten::random__from::with(out, low, Some(high)).generator(generator).call();
    randint_like_Tensor(high: &Tensor) =>
        |out| aten::random__from(out, 0, Some(one_number(aten::randint_like_Tensor::NAME, high)?));
    randint_like_Tensor_generator(high: &Tensor, generator: Option<&Generator>) => |out| {
        let high = one_number(aten::randint_like_Tensor_generator::NAME, high)?;
        aten::random__from::with(out, 0, Some(high)).generator(generator).call()
    };
    randint_like(high: i64) => |out| aten::random__from(out, 0, Some(high));
    randint_like_low_dtype(low: i64, high: i64) => |out| aten::random__from(out, low, Some(high));
}

/// The end of random integers from a tensor; fractions are truncated.
fn one_number(operator: &str, high: &Tensor) -> Result<i64> {
    ensure!(
        high.dim() == 0 && high.device() == Device::CPU,
        Argument,
        "{operator}: an end of sizes {:?} on {}, expected a tensor without dimensions on the CPU",
        high.sizes(),
        high.device()
    );
    Ok(high.item()?.cast())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod distributions {
    use super::*;

    fn bernoulli(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        let mut out = row_major_like(this)?;
        unseen(|| aten::bernoulli__Tensor::call(&mut out, this, generator).map(drop))?;
        Ok(out)
    }

    fn bernoulli_p(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
        let mut out = row_major_like(this)?;
        unseen(|| aten::bernoulli__float::call(&mut out, p, generator).map(drop))?;
        Ok(out)
    }

    fn normal_Tensor_float(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
        let mut out = row_major_like(mean)?;
        unseen(|| {
            aten::normal_::call(&mut out, 0.0, std, generator)?;
            aten::add__Tensor(&mut out, mean).map(drop)
        })?;
        Ok(out)
    }

    fn normal_float_Tensor(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        check_deviations(aten::normal_float_Tensor::NAME, std)?;
        let mut out = row_major_like(std)?;
        unseen(|| {
            aten::normal_::call(&mut out, 0.0, 1.0, generator)?;
            aten::mul__Tensor(&mut out, std)?;
            moved(&mut out, mean).map(drop)
        })?;
        Ok(out)
    }

    fn normal_Tensor_Tensor(mean: &Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        const OPERATOR: &str = aten::normal_Tensor_Tensor::NAME;
        check_deviations(OPERATOR, std)?;
        let sizes = infer_size(mean.sizes(), std.sizes()).map_err(|error| error.context(OPERATOR))?;
        let mut out = aten::new_empty(mean, &sizes)?;
        unseen(|| {
            aten::normal_::call(&mut out, 0.0, 1.0, generator)?;
            aten::mul__Tensor(&mut out, std)?;
            aten::add__Tensor(&mut out, mean).map(drop)
        })?;
        Ok(out)
    }

    fn bernoulli_out<'a>(
        this: &Tensor,
        generator: Option<&Generator>,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        resized(out, this.sizes())?;
        aten::bernoulli__Tensor::call(out, this, generator)
    }

    fn normal_Tensor_float_out<'a>(
        mean: &Tensor,
        std: f64,
        generator: Option<&Generator>,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        aten::normal_::call(out, 0.0, std, generator)?;
        aten::add__Tensor(out, mean)
    }

    fn normal_float_Tensor_out<'a>(
        mean: f64,
        std: &Tensor,
        generator: Option<&Generator>,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        check_deviations(aten::normal_float_Tensor_out::NAME, std)?;
        resized(out, std.sizes())?;
        aten::normal_::call(out, 0.0, 1.0, generator)?;
        aten::mul__Tensor(out, std)?;
        moved(out, mean)
    }

    fn normal_Tensor_Tensor_out<'a>(
        mean: &Tensor,
        std: &Tensor,
        generator: Option<&Generator>,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::normal_Tensor_Tensor_out::NAME;
        check_deviations(OPERATOR, std)?;
        resized(out, &infer_size(mean.sizes(), std.sizes()).map_err(|error| error.context(OPERATOR))?)?;
        aten::normal_::call(out, 0.0, 1.0, generator)?;
        aten::mul__Tensor(out, std)?;
        aten::add__Tensor(out, mean)
    }

    fn normal_float_float_out<'a>(
        mean: f64,
        std: f64,
        size: &[i64],
        generator: Option<&Generator>,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        resized(out, size)?;
        aten::normal_::call(out, mean, std, generator)
    }
}

/// Adds the mean, rounded to the dtype of `out`.
fn moved(out: &mut Tensor, mean: f64) -> Result<&mut Tensor> {
    let mean = Tensor::full(&[], mean, out.dtype(), out.device())?;
    aten::add__Tensor(out, &mean)
}

fn row_major_like(this: &Tensor) -> Result<Tensor> {
    aten::empty_like::with(this).memory_format(Some(MemoryFormat::Contiguous)).call()
}

/// Resizes `out` to the sizes of the result.
fn resized(out: &mut Tensor, sizes: &[i64]) -> Result<()> {
    if out.sizes() == sizes { Ok(()) } else { out.resize(sizes, None).map(drop) }
}

/// # Errors
/// A standard deviation that is complex or negative.
fn check_deviations(operator: &str, std: &Tensor) -> Result<()> {
    ensure!(
        !std.dtype().is_complex(),
        DType,
        "{operator}: standard deviations of {}, expected a real type",
        std.dtype()
    );
    if loops::has_elements(std) {
        let smallest: f64 = aten::min(std)?.item()?.to()?;
        ensure!(
            smallest >= 0.0,
            Argument,
            "{operator}: a standard deviation is {smallest}, expected zero or more"
        );
    }
    Ok(())
}

/// Defines kernels that fill a copy in place, and return it.
macro_rules! drawing {
    ($($name:ident($($argument:ident: $ty:ty),*) => $in_place:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod drawing {
            use super::*;

            $(
                fn $name(this: &Tensor, $($argument: $ty,)* generator: Option<&Generator>) -> Result<Tensor> {
                    let mut out = aten::clone(this)?;
                    unseen(|| aten::$in_place::call(&mut out, $($argument,)* generator).map(drop))?;
                    Ok(out)
                }
            )+
        }
    };
}

drawing! {
    bernoulli_Tensor(p: &Tensor) => bernoulli__Tensor;
    exponential(lambd: f64) => exponential_;
    uniform(from: f64, to: f64) => uniform_;
    cauchy(median: f64, sigma: f64) => cauchy_;
    log_normal(mean: f64, std: f64) => log_normal_;
    geometric(p: f64) => geometric_;
    random() => random_;
    random_to(to: i64) => random__to;
    random_from(from: i64, to: Option<i64>) => random__from;
    normal_functional(mean: f64, std: f64) => normal_;
}

pub(crate) fn evenly_spaced(start: Scalar, end: Scalar, steps: i64, options: Options) -> Result<Tensor> {
    if let Some((options, number)) = spaced_complex(aten::linspace::NAME, start, end, steps, options)? {
        return options.series(aten::linspace::NAME, steps, number);
    }
    let number = spaced(aten::linspace::NAME, start, end, steps, options)?;
    match start {
        // A single number is the start itself, which `f64` would round beyond 2^53.
        Scalar::Int(start) if steps == 1 => options.series(aten::linspace::NAME, steps, |_| start),
        _ => options.series(aten::linspace::NAME, steps, number),
    }
}

fn powers(start: Scalar, end: Scalar, steps: i64, base: f64, options: Options) -> Result<Tensor> {
    if let Some((options, exponent)) = spaced_complex(aten::logspace::NAME, start, end, steps, options)? {
        return options.series(aten::logspace::NAME, steps, |i| Complex64::from(base).powc(exponent(i)));
    }
    let exponent = spaced(aten::logspace::NAME, start, end, steps, options)?;
    let narrow = [DType::Float32, DType::Float16, DType::BFloat16];
    if narrow.contains(&options.dtype.unwrap_or(DType::DEFAULT)) && base > 0.0 && base.is_finite() {
        // In `f64`, which is precise enough for these types.
        let logarithm = base.ln();
        return options.series(aten::logspace::NAME, steps, |i| (exponent(i) * logarithm).exponential());
    }
    options.series(aten::logspace::NAME, steps, |i| base.powf(exponent(i)))
}

/// Whether a number lies in the range of an integer dtype; always true for other dtypes.
fn is_in_range(dtype: DType, number: f64) -> bool {
    let (least, largest) = match dtype {
        DType::UInt8 => (0.0, f64::from(u8::MAX)),
        DType::Int8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::Int16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::Int32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        DType::Int64 => (i64::MIN as f64, i64::MAX as f64),
        _ => return true,
    };
    (least..=largest).contains(&number)
}

/// The numbers of an evenly spaced sequence, by index, if one of its ends is complex, and the options with the dtype of
/// the sequence.
fn spaced_complex(
    operator: &str,
    start: Scalar,
    end: Scalar,
    steps: i64,
    options: Options,
) -> Result<Option<(Options, impl Fn(i64) -> Complex64 + Sync)>> {
    if ![start, end].iter().any(|end| matches!(end, Scalar::Complex(_))) {
        return Ok(None);
    }
    let dtype = options.dtype.unwrap_or(DType::Complex64);
    ensure!(
        dtype.is_complex(),
        DType,
        "{operator}: numbers from {start} to {end} cannot be of {dtype}, expected a complex type"
    );
    let options = Options { dtype: Some(dtype), ..options };
    let ends = [start.to::<Complex64>()?, end.to::<Complex64>()?];
    let part = |part: fn(Complex64) -> f64| {
        let [start, end] = ends.map(|end| Scalar::Float(part(end)));
        spaced(operator, start, end, steps, options)
    };
    let (re, im) = (part(|end| end.re)?, part(|end| end.im)?);
    Ok(Some((options, move |i| Complex64::new(re(i), im(i)))))
}

/// The numbers of an evenly spaced sequence between real ends, by index.
fn spaced(
    operator: &str,
    start: Scalar,
    end: Scalar,
    steps: i64,
    options: Options,
) -> Result<impl Fn(i64) -> f64 + Sync> {
    ensure!(steps >= 0, Argument, "{operator}: steps is {steps}, expected zero or more");
    ensure!(
        options.dtype != Some(DType::Bool) || steps == 0,
        DType,
        "{operator}: bool is not supported, expected numbers"
    );
    let is_whole = options.dtype.is_some_and(|dtype| !dtype.is_floating_point() && !dtype.is_complex());
    // As everywhere in PyTorch, a negative integer stands for the `uint8` with its last eight bits.
    let wrapped = |end: Scalar| match (options.dtype, end) {
        (Some(DType::UInt8), Scalar::Int(number @ -255..0)) => Scalar::Int(number & 255),
        _ => end,
    };
    let ends = [wrapped(start).to::<f64>()?, wrapped(end).to::<f64>()?];
    if let Some(dtype) = options.dtype
        && steps > 0
        && let Some(end) = ends.iter().find(|end| !is_in_range(dtype, **end))
    {
        bail!(Argument, "{operator}: {end} is out of range for {dtype}");
    }
    let [start, end] = ends.map(|x| if is_whole { x.trunc() } else { x });
    let step = if steps == 1 { 0.0 } else { (end - start) / (steps - 1) as f64 };
    // Computed from the nearer end, so that both ends are exact.
    Ok(move |i: i64| match i < steps / 2 || steps == 1 {
        true => start + step * i as u64 as f64,
        false => end - step * (steps - 1 - i) as u64 as f64,
    })
}

/// The indices of the lower or upper triangle of a matrix: row indices, then column indices.
fn triangle(
    operator: &str,
    sizes: [i64; 2],
    offset: i64,
    is_lower: bool,
    options: Options,
) -> Result<Tensor> {
    let triangle = Triangle::new(operator, sizes, offset, is_lower, options.dtype)?;
    let options = Options { dtype: Some(triangle.dtype), ..options };
    options.filled(&[2, triangle.count], |out| {
        if loops::has_elements(out) {
            let mut places = collected(operator, 2 * triangle.count, |_| 0)?;
            triangle.write(&mut places, |place| place);
            aten::copy_(out, &Tensor::from_vec(places, &[2, triangle.count])?)?;
        }
        Ok(())
    })
}

fn identity(n: i64, m: i64, options: Options) -> Result<Tensor> {
    let Options { dtype, layout, device, pin_memory, .. } = options;
    let out = aten::zeros::call(&[n, m], dtype, layout, device, pin_memory)?;
    unseen(|| aten::fill__Scalar(&mut aten::diagonal(&out)?, 1.into()).map(drop))?;
    Ok(out)
}

fn shuffled(n: i64, generator: Option<&Generator>, options: Options) -> Result<Tensor> {
    const OPERATOR: &str = aten::randperm::NAME;
    ensure!(n >= 0, Argument, "{OPERATOR}: n is {n}, expected zero or more");
    let dtype = options.dtype.unwrap_or(DType::Int64);
    let most = match dtype {
        DType::Float16 => Some((1 << 11) + 1),
        DType::Float32 => Some((1 << 24) + 1),
        DType::Float64 => Some((1 << 53) + 1),
        dtype if dtype.is_integer() || dtype.is_floating_point() => None,
        _ => {
            bail!(DType, "{OPERATOR}: {dtype} is not supported, expected integers or floating-point numbers")
        }
    };
    ensure!(
        most.is_none_or(|most| n <= most) && is_in_range(dtype, (n - 1).max(0) as f64),
        Argument,
        "{OPERATOR}: {dtype} cannot hold all integers below {n}"
    );
    let mut numbers = collected(OPERATOR, n, |i| i)?;
    let mut words = vec![0; numbers.len().saturating_sub(1)];
    generator.unwrap_or_else(|| default_generator()).with(|next| next(&mut words));
    for (i, word) in words.into_iter().enumerate() {
        let left = n as usize - i;
        // A 32-bit division takes half as long as a 64-bit one.
        let step = u32::try_from(left).map_or_else(|_| word as usize % left, |left| (word % left) as usize);
        numbers.swap(i, i + step);
    }
    options.series(OPERATOR, n, |i| numbers[i as usize])
}
