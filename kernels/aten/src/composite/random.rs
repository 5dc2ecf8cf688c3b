//! Random numbers in new tensors.

use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use super::collected;
use super::create::sequence::is_in_range;
use super::create::{Options, creating};
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops;
use crate::random::default_generator;

creating! { CompositeExplicitAutograd, creation;
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
    randperm(n: i64), options => shuffled(n, None, options);
    randperm_generator(n: i64, generator: Option<&Generator>), options => shuffled(n, generator, options);
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
                    below_autograd(|| $fill.map(drop))?;
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
        below_autograd(|| aten::bernoulli__Tensor::call(&mut out, this, generator).map(drop))?;
        Ok(out)
    }

    fn bernoulli_p(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
        let mut out = row_major_like(this)?;
        below_autograd(|| aten::bernoulli__float::call(&mut out, p, generator).map(drop))?;
        Ok(out)
    }

    fn normal_Tensor_float(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
        let mut out = row_major_like(mean)?;
        below_autograd(|| {
            aten::normal_::call(&mut out, 0.0, std, generator)?;
            aten::add__Tensor(&mut out, mean).map(drop)
        })?;
        Ok(out)
    }

    fn normal_float_Tensor(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        check_deviations(aten::normal_float_Tensor::NAME, std)?;
        let mut out = row_major_like(std)?;
        below_autograd(|| {
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
        below_autograd(|| {
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
    aten::empty_like::with(this).memory_format(MemoryFormat::Contiguous).call()
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
                    below_autograd(|| aten::$in_place::call(&mut out, $($argument,)* generator).map(drop))?;
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

#[torch_impl(aten, CompositeExplicitAutograd)]
mod keyed {
    use super::*;

    fn _philox_uniform(this: &Tensor, key: &Tensor, low: f64, high: f64) -> Result<Tensor> {
        let mut out = aten::clone(this)?;
        below_autograd(|| aten::_philox_uniform_::call(&mut out, key, low, high).map(drop))?;
        Ok(out)
    }

    fn _philox_normal(this: &Tensor, key: &Tensor, mean: f64, std: f64) -> Result<Tensor> {
        let mut out = aten::clone(this)?;
        below_autograd(|| aten::_philox_normal_::call(&mut out, key, mean, std).map(drop))?;
        Ok(out)
    }

    fn _philox_randint(this: &Tensor, key: &Tensor, low: Option<i64>, high: Option<i64>) -> Result<Tensor> {
        let mut out = aten::clone(this)?;
        below_autograd(|| aten::_philox_randint_::call(&mut out, key, low, high).map(drop))?;
        Ok(out)
    }
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
    let mut words = collected(OPERATOR, (n - 1).max(0), |_| 0)?;
    generator.unwrap_or_else(|| default_generator()).with(|next| next(&mut words));
    for (i, word) in words.into_iter().enumerate() {
        let left = n as usize - i;
        // A 32-bit division takes half as long as a 64-bit one.
        let step = u32::try_from(left).map_or_else(|_| word as usize % left, |left| (word % left) as usize);
        numbers.swap(i, i + step);
    }
    options.series(OPERATOR, n, |i| numbers[i as usize])
}
