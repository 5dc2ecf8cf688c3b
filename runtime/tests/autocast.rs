//! Autocast on devices that have no rules for it.

use std::sync::{Arc, Mutex};

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library::{DeviceType, Library, RuntimeKernel, warning};

/// The warnings of some regions on a device.
fn warnings(regions: impl FnOnce()) -> Vec<String> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let guard = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
    regions();
    drop(guard);
    let heard = heard.lock().unwrap();
    heard.clone()
}

#[test]
fn a_region_in_which_nothing_is_cast_warns_once_for_each_device() -> Result<()> {
    let on = |device: DeviceType| Autocast::on(device);
    assert_eq!(warnings(|| on(DeviceType::Cuda).enabled(false).run(|| ())), [""; 0]);
    assert_eq!(warnings(|| on(DeviceType::Cuda).dtype(DType::Float32).run(|| ())), [""; 0]);
    let heard = warnings(|| (0..3).for_each(|_| on(DeviceType::Cuda).run(|| ())));
    assert_eq!(heard.len(), 1, "{heard:?}");
    let expected = "autocast has no effect on cuda: no operator has a rule at AutocastCUDA\n  help: ";
    assert!(heard[0].starts_with(expected), "{heard:?}");
    assert_eq!(
        warnings(|| on(DeviceType::PrivateUse2).run(|| ())),
        ["autocast has no effect on privateusetwo, which has no autocast key"]
    );
    assert_eq!(
        warnings(|| on(DeviceType::Cpu).run(|| ())),
        [""; 0],
        "the operators bring the rules of the CPU"
    );

    // A fallthrough is no rule, a fallback or the kernel of an operator is.
    let mut library = Library::implementation("_", DispatchKey::AutocastMTIA)?;
    library.fallback(DispatchKey::AutocastMTIA, RuntimeKernel::fallthrough())?;
    assert_eq!(warnings(|| on(DeviceType::Mtia).run(|| ())).len(), 1);
    let mut library = Library::implementation("_", DispatchKey::AutocastXPU)?;
    library.fallback(DispatchKey::AutocastXPU, RuntimeKernel::boxed(|_, _, _| Ok(())))?;
    assert_eq!(warnings(|| on(DeviceType::Xpu).run(|| ())), [""; 0]);
    let mut library = Library::implementation("autocast_test", DispatchKey::AutocastXLA)?;
    library.implement("any", DispatchKey::AutocastXLA, RuntimeKernel::boxed(|_, _, _| Ok(())))?;
    assert_eq!(warnings(|| on(DeviceType::Xla).run(|| ())), [""; 0]);
    Ok(())
}
