//! The sixteen backends, and the keys that belong to each.

use super::DispatchKey;

/// Generates the enum and its table from one list.
macro_rules! backends {
    ($($(#[$doc:meta])* $backend:ident $name:literal, $device:expr, $autograd:ident, $autocast:expr;)*) => {
        /// A backend, which owns the memory of a tensor and runs kernels on it. In a set with several backends, the
        /// last one wins.
        ///
        /// PyTorch: `c10::BackendComponent`, whose values are one higher because 0 is `InvalidBit`; here that
        /// is `None`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum BackendComponent {
            $($(#[$doc])* $backend,)*
        }

        impl BackendComponent {
            /// All backends, in order of rising priority.
            pub const ALL: [BackendComponent; 16] = [$(BackendComponent::$backend),*];

            /// PyTorch's name of the backend's bit.
            pub const fn name(self) -> &'static str {
                match self { $(BackendComponent::$backend => $name,)* }
            }

            /// PyTorch's name of the device type, if it has one.
            pub(super) const fn stock_device(self) -> Option<&'static str> {
                match self { $(BackendComponent::$backend => $device,)* }
            }

            /// The autograd key of the backend's tensors, which is [`AutogradOther`](DispatchKey::AutogradOther) if the
            /// backend has no key of its own.
            ///
            /// PyTorch: `c10::getAutogradKeyFromBackend`.
            pub const fn autograd_key(self) -> DispatchKey {
                match self { $(BackendComponent::$backend => DispatchKey::$autograd,)* }
            }

            /// The autocast key of the backend's tensors.
            pub const fn autocast_key(self) -> Option<DispatchKey> {
                match self { $(BackendComponent::$backend => $autocast,)* }
            }
        }
    };
}

// HIP and VE have autograd slots, yet PyTorch's tensors of these backends carry AutogradOther.
backends! {
    /// The CPU.
    CPU "CPUBit", Some("cpu"), AutogradCPU, Some(DispatchKey::AutocastCPU);
    /// NVIDIA GPUs.
    CUDA "CUDABit", Some("cuda"), AutogradCUDA, Some(DispatchKey::AutocastCUDA);
    /// AMD GPUs, where they do not appear as CUDA.
    HIP "HIPBit", Some("hip"), AutogradOther, None;
    /// XLA devices.
    XLA "XLABit", Some("xla"), AutogradXLA, Some(DispatchKey::AutocastXLA);
    /// Apple's GPUs.
    MPS "MPSBit", Some("mps"), AutogradMPS, Some(DispatchKey::AutocastMPS);
    /// Graphcore's devices.
    IPU "IPUBit", Some("ipu"), AutogradIPU, Some(DispatchKey::AutocastIPU);
    /// Intel's GPUs.
    XPU "XPUBit", Some("xpu"), AutogradXPU, Some(DispatchKey::AutocastXPU);
    /// Gaudi devices.
    HPU "HPUBit", Some("hpu"), AutogradHPU, Some(DispatchKey::AutocastHPU);
    /// Vector engines.
    VE "VEBit", Some("ve"), AutogradOther, None;
    /// Lazy tensors.
    Lazy "LazyBit", Some("lazy"), AutogradLazy, None;
    /// Meta's inference and training devices.
    MTIA "MTIA", Some("mtia"), AutogradMTIA, Some(DispatchKey::AutocastMTIA);
    /// Microsoft's devices.
    MAIA "MAIA", Some("maia"), AutogradMAIA, Some(DispatchKey::AutocastMAIA);
    /// The first backend for third parties.
    PrivateUse1 "PrivateUse1Bit", Some("privateuseone"), AutogradPrivateUse1,
        Some(DispatchKey::AutocastPrivateUse1);
    /// The second backend for third parties.
    PrivateUse2 "PrivateUse2Bit", None, AutogradPrivateUse2, None;
    /// The third backend for third parties.
    PrivateUse3 "PrivateUse3Bit", None, AutogradPrivateUse3, None;
    /// Shapes without data; last, so that a meta tensor among the arguments wins.
    Meta "MetaBit", Some("meta"), AutogradMeta, None;
}

impl BackendComponent {
    /// The number of the backend's bit, from 0.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// PyTorch's name: `CPUBit`.
impl std::fmt::Display for BackendComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
