//! Autocast: the precision in which a thread's operators run, and the casts that it caches.
//!
//! Autocast for a device is on where the device's autocast key is *not* excluded: every tensor carries that key, and a
//! new thread excludes it. So autocast costs nothing while it is off. Kernels at the autocast keys say what is cast,
//! and to which type; those of `aten` are in `torch-library-kernels`, which has `cached_cast` for kernels of your own.
//!
//! ```
//! use torch_library::autocast::{self, Autocast};
//! use torch_library::{DType, DeviceType};
//!
//! let inside = Autocast::on(DeviceType::Cpu).run(|| autocast::dtype(DeviceType::Cpu));
//! assert_eq!(inside, DType::BFloat16);
//! assert!(!autocast::is_enabled(DeviceType::Cpu));
//! ```
//!
//! PyTorch: `at::autocast`, `torch.autocast`.

mod cache;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::DeviceType;
use crate::dtype::DType;
use crate::error::Result;
use crate::guard::{ForceDispatchKeyGuard, LocalDispatchKeySet};
use crate::key::{BackendComponent, DispatchKey};
use crate::registry::{Dispatcher, KernelInfo};
use crate::tensor::Tensor;
use crate::warning::warn;
use crate::{bail, ensure};

use cache::Cache;

pub use cache::cached;

/// The length of a table that is indexed by device types.
const DEVICES: usize = DeviceType::PrivateUse3 as usize + 1; // the last one

thread_local! {
    /// The lower precision of each device, where one was set; each device has a default.
    static DTYPES: Cell<[Option<DType>; DEVICES]> = const { Cell::new([None; DEVICES]) };
    static CACHE_ENABLED: Cell<bool> = const { Cell::new(true) };
}

/// What of a thread's autocast travels to other threads; the keys travel by themselves.
#[derive(Clone)]
pub(crate) struct State {
    dtypes: [Option<DType>; DEVICES],
    cache_enabled: bool,
    cache: Option<Cache>,
}

impl State {
    pub(crate) fn capture() -> Self {
        State { dtypes: DTYPES.get(), cache_enabled: CACHE_ENABLED.get(), cache: Cache::of_thread() }
    }

    /// Makes this the thread's state, and returns the previous one.
    pub(crate) fn replace(self) -> Self {
        State {
            dtypes: DTYPES.replace(self.dtypes),
            cache_enabled: CACHE_ENABLED.replace(self.cache_enabled),
            cache: Cache::replace(self.cache),
        }
    }
}

/// The autocast key of a device, if it has one.
///
/// PyTorch: `get_autocast_dispatch_key_from_device_type`.
pub fn key(device: DeviceType) -> Option<DispatchKey> {
    device.dispatch_key().backend().and_then(BackendComponent::autocast_key)
}

/// Whether this thread's calls on a device are cast.
///
/// PyTorch: `at::autocast::is_autocast_enabled`, `torch.is_autocast_enabled`.
pub fn is_enabled(device: DeviceType) -> bool {
    key(device).is_some_and(|key| !LocalDispatchKeySet::current().excluded.has(key))
}

/// The lower precision of a device on this thread: the one that was set, otherwise `bfloat16` or `float16`.
///
/// PyTorch: `at::autocast::get_autocast_dtype`, `torch.get_autocast_dtype`.
#[inline]
pub fn dtype(device: DeviceType) -> DType {
    DTYPES.get()[device as usize].unwrap_or(match device {
        DeviceType::Cpu | DeviceType::Hpu | DeviceType::Xla | DeviceType::Maia => DType::BFloat16,
        _ => DType::Float16,
    })
}

/// Whether this thread caches the casts of weights until the outermost region ends.
///
/// PyTorch: `at::autocast::is_autocast_cache_enabled`.
pub fn is_cache_enabled() -> bool {
    CACHE_ENABLED.get()
}

/// Whether autocast casts a tensor: a floating-point tensor of this device that is not of double precision, which is
/// taken to be a deliberate choice.
///
/// PyTorch: `at::autocast::is_eligible`.
#[inline]
pub fn is_eligible(tensor: &Tensor, device: DeviceType) -> bool {
    tensor.device().kind == device && tensor.dtype().is_floating_point() && tensor.dtype() != DType::Float64
}

/// The widest type among the eligible tensors, or `lowest` if there is none wider: the type in which to run an operator
/// with several inputs.
///
/// ```
/// use torch_library::autocast::promote_type;
/// use torch_library::{DType, DeviceType, Tensor};
///
/// let (x, n) = (Tensor::from([1f32]), Tensor::from([1i64]));
/// assert_eq!(promote_type(DType::BFloat16, DeviceType::Cpu, [&x, &n])?, DType::Float32);
/// assert_eq!(promote_type(DType::BFloat16, DeviceType::Cpu, [&n])?, DType::BFloat16);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// `lowest` is `float64`; a tensor has a 16-bit type other than the one that is set for the device.
///
/// PyTorch: `at::autocast::promote_type`.
pub fn promote_type<'t>(
    lowest: DType,
    device: DeviceType,
    tensors: impl IntoIterator<Item = &'t Tensor>,
) -> Result<DType> {
    ensure!(
        lowest != DType::Float64,
        DType,
        "autocast cannot promote from float64, because it leaves float64 tensors unchanged"
    );
    let lower = dtype(device);
    let mut widest = lowest;
    for tensor in tensors.into_iter().filter(|tensor| is_eligible(tensor, device)) {
        widest = match (widest, tensor.dtype()) {
            (DType::Float32, _) | (_, DType::Float32) => DType::Float32,
            (current, next) if current == lower && next == lower => lower,
            (current, next) => bail!(
                DType,
                "autocast to {lower} finds no common type for {current} and {next}, convert one of them first"
            ),
        };
    }
    Ok(widest)
}

/// An autocast region, before it is entered.
///
/// ```
/// use torch_library::autocast::{self, Autocast};
/// use torch_library::{DType, DeviceType};
///
/// let _region = Autocast::on(DeviceType::Cpu).dtype(DType::Float16).enter();
/// let _but_not_here = Autocast::on(DeviceType::Cpu).enabled(false).enter();
/// assert!(!autocast::is_enabled(DeviceType::Cpu));
/// ```
///
/// PyTorch: `torch.autocast(device_type, dtype, enabled, cache_enabled)`.
#[derive(Clone, Copy, Debug)]
#[must_use = "a region acts once it is entered"]
pub struct Autocast {
    device: DeviceType,
    dtype: Option<DType>,
    enabled: bool,
    cache_enabled: Option<bool>,
}

impl Autocast {
    /// A region for a device, with the precision that is set for the device.
    pub fn on(device: DeviceType) -> Self {
        Autocast { device, dtype: None, enabled: true, cache_enabled: None }
    }

    /// Sets the precision to run in. A type that is not a lower precision, such as `float32`, turns autocast off, as in
    /// PyTorch, so a program that takes the type from its user needs no second code path.
    pub fn dtype(self, dtype: DType) -> Self {
        Autocast { dtype: Some(dtype), ..self }
    }

    /// Sets whether to cast at all; `false` makes a region without autocast inside one with it.
    pub fn enabled(self, enabled: bool) -> Self {
        Autocast { enabled, ..self }
    }

    /// Sets whether to cache the casts of weights; by default as in the enclosing region.
    pub fn cache_enabled(self, enabled: bool) -> Self {
        Autocast { cache_enabled: Some(enabled), ..self }
    }

    /// Enters the region, which lasts while the guard lives. Drop guards in reverse order.
    ///
    /// The first region for an accelerator on which nothing would be cast, because no operator has a rule at its
    /// autocast key, [warns](crate::warning).
    pub fn enter(self) -> AutocastGuard {
        let (dtypes, cache_enabled) = (DTYPES.get(), CACHE_ENABLED.get());
        let dtype = self.dtype.unwrap_or_else(|| dtype(self.device));
        let enabled = self.enabled && matches!(dtype, DType::Float16 | DType::BFloat16);
        if enabled && self.device != DeviceType::Cpu {
            warn_without_rules(self.device);
        }
        let mut changed = dtypes;
        changed[self.device as usize] = Some(dtype);
        DTYPES.set(changed);
        CACHE_ENABLED.set(self.cache_enabled.unwrap_or(cache_enabled));
        let is_outermost = Cache::open();
        AutocastGuard { _keys: keys(self.device, enabled), dtypes, cache_enabled, is_outermost }
    }

    /// Runs a closure in the region.
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let _region = self.enter();
        f()
    }
}

/// Warns, once for each kind of device, if autocast casts nothing there.
fn warn_without_rules(device: DeviceType) {
    static CHECKED: AtomicU64 = AtomicU64::new(0);
    const { assert!(DEVICES <= 64, "a bit for each device") };
    let bit = 1 << device as u64;
    if CHECKED.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
        return;
    }
    let Some(key) = key(device) else {
        warn(format_args!("autocast has no effect on {device}, which has no autocast key"));
        return;
    };
    let is_rule = |kernel: &KernelInfo| kernel.key == key && !kernel.is_fallthrough;
    let dispatcher = Dispatcher::global();
    let has_rules = dispatcher.registrations(Some(key)).iter().any(|rule| is_rule(&rule.kernel))
        || dispatcher.fallbacks().iter().any(is_rule);
    if !has_rules {
        warn(format_args!(
            "autocast has no effect on {device}: no operator has a rule at {}\n  \
             help: the backend has to register them: `torch_library_kernels::autocast::policy_fallback`",
            key.name()
        ));
    }
}

/// Excludes a device's autocast key, or stops excluding it.
fn keys(device: DeviceType, enabled: bool) -> Option<ForceDispatchKeyGuard> {
    let key = key(device)?;
    let LocalDispatchKeySet { included, excluded } = LocalDispatchKeySet::current();
    let excluded = if enabled { excluded.remove(key) } else { excluded.add(key) };
    Some(ForceDispatchKeyGuard::new(LocalDispatchKeySet { included, excluded }))
}

/// An autocast region that was entered; dropping it leaves the region. Leaving the outermost one clears the cache, also
/// for the threads to which its state was carried.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct AutocastGuard {
    _keys: Option<ForceDispatchKeyGuard>,
    dtypes: [Option<DType>; DEVICES],
    cache_enabled: bool,
    is_outermost: bool,
}

impl Drop for AutocastGuard {
    fn drop(&mut self) {
        DTYPES.set(self.dtypes);
        CACHE_ENABLED.set(self.cache_enabled);
        if self.is_outermost {
            Cache::close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: DeviceType = DeviceType::Cpu;

    #[test]
    fn regions_nest() {
        let state = || (is_enabled(CPU), dtype(CPU), is_cache_enabled());
        assert_eq!(state(), (false, DType::BFloat16, true));
        Autocast::on(CPU).dtype(DType::Float16).run(|| {
            assert_eq!(state(), (true, DType::Float16, true));
            Autocast::on(CPU).enabled(false).cache_enabled(false).run(|| {
                assert_eq!(state(), (false, DType::Float16, false));
                Autocast::on(CPU).run(|| assert_eq!(state(), (true, DType::Float16, false)));
            });
            assert_eq!(state(), (true, DType::Float16, true));
        });
        assert_eq!(state(), (false, DType::BFloat16, true));
    }

    #[test]
    fn only_lower_precision_turns_it_on() {
        for dtype in [DType::Float32, DType::Float64, DType::Int32] {
            assert!(!Autocast::on(CPU).dtype(dtype).run(|| is_enabled(CPU)), "{dtype}");
        }
        assert!(!Autocast::on(DeviceType::Meta).run(|| is_enabled(DeviceType::Meta)));
    }

    #[test]
    fn other_devices_have_their_own_state() {
        Autocast::on(DeviceType::Cuda).run(|| {
            assert!(is_enabled(DeviceType::Cuda) && !is_enabled(CPU));
            assert_eq!((dtype(DeviceType::Cuda), dtype(CPU)), (DType::Float16, DType::BFloat16));
        });
    }

    #[test]
    fn types_are_promoted_as_pytorch_does() {
        let bf16 = Tensor::from([half::bf16::ONE]);
        let f16 = Tensor::from([half::f16::ONE]);
        let (f32, f64) = (Tensor::from([1f32]), Tensor::from([1f64]));
        let promote = |tensors: &[&Tensor]| promote_type(DType::BFloat16, CPU, tensors.iter().copied());
        assert_eq!(promote(&[&bf16, &f32, &bf16]).unwrap(), DType::Float32);
        assert_eq!(promote(&[&bf16, &bf16]).unwrap(), DType::BFloat16);
        assert_eq!(promote(&[&bf16, &f64]).unwrap(), DType::BFloat16);
        let error = promote(&[&bf16, &f16]).unwrap_err();
        assert!(error.to_string().contains("no common type for bfloat16 and float16"), "{error}");
        assert!(promote_type(DType::Float64, CPU, [&f32]).is_err());
    }

    #[test]
    fn a_region_travels_with_the_state_of_its_thread() {
        let state = || (is_enabled(CPU), dtype(CPU), is_cache_enabled());
        let there = |carried: crate::guard::ThreadLocalState| {
            let both = move || (carried.run(state), state());
            std::thread::spawn(both).join().unwrap()
        };
        let outside = (false, DType::BFloat16, true);
        let inside = Autocast::on(CPU).dtype(DType::Float16).cache_enabled(false);
        let (at_home, abroad) = inside.run(|| (state(), there(crate::guard::ThreadLocalState::capture())));
        assert_eq!((at_home, abroad), ((true, DType::Float16, false), (at_home, outside)));
    }

    #[test]
    fn a_region_ends_with_a_panic_in_it() {
        let panics = || Autocast::on(CPU).dtype(DType::Float16).cache_enabled(false).run(|| panic!("inside"));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!((is_enabled(CPU), dtype(CPU), is_cache_enabled()), (false, DType::BFloat16, true));
    }
}
