//! Selective linking: a program has only the kernels of the operators that it reaches.
//!
//! An operator's static refers to its kernels by weak symbols, one for each key at which it may have a kernel. The
//! linker keeps what is reachable from code that it keeps: a call of `aten::add` keeps that operator, the operator
//! keeps its kernels, and these keep the operators that they call. A symbol without a kernel is null. The registry
//! registers an operator when it is first called, or named by [`link!`](crate::link).
//!
//! With the feature `inference` an operator does not refer to its kernels at the keys of layers, so neither these nor
//! the code that only they call is linked: gradients, batching rules, autocast, functionalization.
//!
//! Kernels at keys other than those below are rare. They are collected as without this feature, and so is every
//! fallback: these are linked whether or not anything calls them.
//!
//! PyTorch: its selective build, whose lists of operators are written by hand or by a tracer.

use super::{KernelRecord, Record};
use crate::key::DispatchKey;
use crate::operator::Operator;
use crate::text::are_same;

/// With selective linking, a function that returns the kernels of an operator that are linked in.
pub type Links = Option<fn() -> &'static [Option<&'static KernelRecord>]>;

/// The keys of backends, of composites, and of tensors whose elements are not those in memory.
#[doc(hidden)]
#[macro_export]
macro_rules! __backend_keys {
    () => {
        "CPU,Meta,CompositeImplicitAutograd,CompositeExplicitAutograd,CompositeExplicitAutogradNonFunctional,\
         Conjugate,Negative,ZeroTensor,BackendSelect,Python,CUDA,PrivateUse1,SparseCPU,QuantizedCPU"
    };
}

/// The keys of layers, which the feature `inference` leaves out.
#[doc(hidden)]
#[macro_export]
macro_rules! __layer_keys {
    () => {
        ",Autograd,AutogradCPU,AutogradOther,AutogradCUDA,AutogradPrivateUse1,ADInplaceOrView,FuncTorchBatched,\
         FuncTorchBatchedDecomposition,AutocastCPU,AutocastCUDA,AutocastPrivateUse1,Functionalize"
    };
}

/// The keys at which an operator refers to kernels.
#[cfg(not(feature = "inference"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_keys {
    () => {
        $crate::__private::concat!($crate::__backend_keys!(), $crate::__layer_keys!())
    };
}

/// The keys at which an operator refers to kernels.
#[cfg(feature = "inference")]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_keys {
    () => {
        $crate::__backend_keys!()
    };
}

/// The number of keys at which an operator refers to kernels; for each, there is a kernel and an overriding one.
pub const LINKED_KEYS: usize = {
    let (keys, mut at, mut count) = (crate::__linked_keys!().as_bytes(), 0, 1);
    while at < keys.len() {
        count += (keys[at] == b',') as usize;
        at += 1;
    }
    count
};

/// Whether the linker chooses which operators a program has.
pub(crate) const IS_SELECTIVE: bool = true;

/// The operators that this crate calls by name, if they are linked in; code that calls `backward` calls these.
macro_rules! called_by_name {
    ($($name:literal $symbol:literal,)*) => {
        const NAMES: &[&str] = &[$($name),*];
        const _: () = assert!($(is_symbol_of($symbol, $name))&&*);

        std::arch::global_asm!(
            ".pushsection .data.rel.ro.torch_library.called_by_name,\"aw\",%progbits",
            ".balign 8",
            ".globl torch_library.called_by_name",
            ".hidden torch_library.called_by_name",
            "torch_library.called_by_name:",
            $(
                concat!(".weakref torch_library.weak_operator.", $symbol, ", torch_library.operator.", $symbol),
                concat!(".quad torch_library.weak_operator.", $symbol),
            )*
            ".popsection",
        );
    };
}

#[cfg(not(feature = "inference"))]
called_by_name! {
    "aten::add.Scalar" "aten.add_Scalar",
    "aten::add.Tensor" "aten.add_Tensor",
    "aten::add_.Tensor" "aten.add__Tensor",
    "aten::as_strided" "aten.as_strided",
    "aten::as_strided_" "aten.as_strided_",
    "aten::as_strided_scatter" "aten.as_strided_scatter",
    "aten::clone" "aten.clone",
    "aten::conj_physical" "aten.conj_physical",
    "aten::copy" "aten.copy",
    "aten::copy_" "aten.copy_",
    "aten::detach" "aten.detach",
    "aten::div.Scalar" "aten.div_Scalar",
    "aten::div.Tensor" "aten.div_Tensor",
    "aten::mul.Scalar" "aten.mul_Scalar",
    "aten::mul.Tensor" "aten.mul_Tensor",
    "aten::narrow" "aten.narrow",
    "aten::neg" "aten.neg",
    "aten::new_empty_strided" "aten.new_empty_strided",
    "aten::ones_like" "aten.ones_like",
    "aten::sub.Scalar" "aten.sub_Scalar",
    "aten::sub.Tensor" "aten.sub_Tensor",
    "aten::sum_to_size" "aten.sum_to_size",
    "aten::to.device" "aten.to_device",
    "aten::to.dtype" "aten.to_dtype",
    "aten::zeros_like" "aten.zeros_like",
}

#[cfg(feature = "inference")]
called_by_name! {
    "aten::add.Scalar" "aten.add_Scalar",
    "aten::add.Tensor" "aten.add_Tensor",
    "aten::conj_physical" "aten.conj_physical",
    "aten::copy_" "aten.copy_",
    "aten::div.Scalar" "aten.div_Scalar",
    "aten::div.Tensor" "aten.div_Tensor",
    "aten::mul.Scalar" "aten.mul_Scalar",
    "aten::mul.Tensor" "aten.mul_Tensor",
    "aten::neg" "aten.neg",
    "aten::sub.Scalar" "aten.sub_Scalar",
    "aten::sub.Tensor" "aten.sub_Tensor",
    "aten::zeros_like" "aten.zeros_like",
}

/// The operator with this name, if it is one that this crate calls and is linked in.
pub(crate) fn called_by_name(name: &str) -> Option<&'static Operator> {
    #[expect(improper_ctypes, reason = "all of it is Rust")]
    unsafe extern "C" {
        #[link_name = "torch_library.called_by_name"]
        static OPERATORS: [Option<&'static &'static Operator>; NAMES.len()];
    }
    let at = NAMES.iter().position(|known| *known == name)?;
    // SAFETY: the assembly above defines `NAMES.len()` pointers, each null or the address of the word that `__links!`
    // makes beside an operator, which holds the address of the operator's static.
    unsafe { OPERATORS[at] }.copied()
}

/// Whether the symbol of a kernel is one that its operator refers to: that of the operator's own module, with a key
/// from the list.
pub const fn is_referred_to(symbol: &str, of_operator: &str, key: &str) -> bool {
    let keys = concat!(crate::__backend_keys!(), crate::__layer_keys!());
    let (mut start, mut at) = (0, 0);
    while at <= keys.len() {
        if at == keys.len() || keys.as_bytes()[at] == b',' {
            if are_same(keys.split_at(at).0.split_at(start).1, key) {
                return are_same(symbol, of_operator);
            }
            start = at + 1;
        }
        at += 1;
    }
    false
}

/// The record of the kernel with this function and key, from the record of its block.
pub const fn pick(record: &Record, function: &str, key: DispatchKey) -> KernelRecord {
    let Record::Kernels(kernels) = record else { panic!("expected a record of kernels") };
    let mut at = 0;
    while !(are_same(kernels[at].function, function) && kernels[at].key as u8 == key as u8) {
        at += 1;
    }
    kernels[at]
}

/// Whether a symbol is that of an operator with this name: `aten.add_Tensor` of `aten::add.Tensor`.
const fn is_symbol_of(symbol: &str, name: &str) -> bool {
    let (symbol, name) = (symbol.as_bytes(), name.as_bytes());
    let (mut at, mut of_name) = (0, 0);
    while at < symbol.len() && of_name < name.len() {
        let (expected, taken) = match name[of_name] {
            b':' => (b'.', 2),
            b'.' => (b'_', 1),
            other => (other, 1),
        };
        if symbol[at] != expected {
            return false;
        }
        (at, of_name) = (at + 1, of_name + taken);
    }
    at == symbol.len() && of_name == name.len()
}

/// In an operator's module: its kernels from all crates. The symbol is `module.operator`. As in `__operator!`, nothing
/// in the caller's module can take the place of what this names, macros included.
#[doc(hidden)]
#[macro_export]
macro_rules! __links {
    ($symbol:literal) => {
        #[doc(hidden)]
        pub const SYMBOL: &$crate::__private::str = $symbol;

        // The assembly below is made of it.
        const _: () = $crate::__private::assert!($crate::__private::check::is_symbol(SYMBOL));

        // Nor may the static be another type: the assembly below has its address.
        const _: fn() -> *const $crate::__private::Operator = || &raw const OPERATOR;

        fn links() -> &'static [$crate::__private::Option<&'static $crate::__private::KernelRecord>] {
            #[allow(improper_ctypes, reason = "all of it is Rust")]
            unsafe extern "C" {
                #[link_name = $crate::__private::concat!("torch_library.links.", $symbol)]
                static LINKS: [
                    $crate::__private::Option<&'static $crate::__private::KernelRecord>;
                    2 * $crate::__private::LINKED_KEYS
                ];
            }
            // SAFETY: the assembly below defines `2 * LINKED_KEYS` pointers, each null or the address of a static of
            // that type: only `__export_kernel!` makes these symbols.
            unsafe { &LINKS }
        }

        $crate::__private::global_asm!(
            $crate::__private::concat!(
                ".pushsection .data.rel.ro.torch_library.links.", $symbol, ",\"aw\",%progbits\n",
                ".balign 8\n",
                ".globl torch_library.links.", $symbol, "\n",
                ".hidden torch_library.links.", $symbol, "\n",
                "torch_library.links.", $symbol, ":\n",
                ".irp key,", $crate::__linked_keys!(), "\n",
                ".weakref torch_library.weak.", $symbol, ".\\key, torch_library.kernel.", $symbol, ".\\key\n",
                ".quad torch_library.weak.", $symbol, ".\\key\n",
                ".weakref torch_library.weak_override.", $symbol, ".\\key, ",
                "torch_library.override.", $symbol, ".\\key\n",
                ".quad torch_library.weak_override.", $symbol, ".\\key\n",
                ".endr\n",
                ".popsection\n",
                ".pushsection .data.rel.ro.torch_library.operator.", $symbol, ",\"aw\",%progbits\n",
                ".balign 8\n",
                ".globl torch_library.operator.", $symbol, "\n",
                ".hidden torch_library.operator.", $symbol, "\n",
                "torch_library.operator.", $symbol, ":\n",
                ".quad {operator}\n",
                ".popsection",
            ),
            operator = sym OPERATOR,
        );
    };
}

/// The operator's [`Links`], inside its module.
#[doc(hidden)]
#[macro_export]
macro_rules! __links_here {
    () => {
        $crate::__private::Option::Some(links)
    };
}

/// Leaves a library's record in the program, and its kernels one by one. Of the two records given this takes the
/// second, without the operators, since these are registered when they are called.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_library {
    ($record:expr, $without_operators:expr, $kernels:expr; $($kernel:tt)*) => {
        $crate::__private::submit! { $without_operators }
        const _: () = {
            $crate::__private::submit_kernels! { $kernels; $($kernel)* }
        };
    };
}

/// Leaves a record of kernels in the program. Each kernel is listed with its key, the symbol of its operator, whether
/// it overrides another, its function, and the operator's module.
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_kernels {
    ($record:expr; $({
        $(#[$cfg:meta])* $key:ident $symbol:literal $overrides:tt $function:literal $operator:path
    })*) => {
        $($(#[$cfg])* const _: () = {
            use $operator as __operator;
            const KERNEL: $crate::__private::KernelRecord =
                $crate::__private::pick(&$record, $function, $crate::__private::DispatchKey::$key);
            $crate::__export_kernel! { $key $overrides $symbol }
        };)*
    };
}

/// A separate static for one kernel, under the symbol that its operator refers to.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_kernel {
    (CPU $($rest:tt)*) => { $crate::__export_kernel! { @ "CPU" $($rest)* } };
    (Meta $($rest:tt)*) => { $crate::__export_kernel! { @ "Meta" $($rest)* } };
    (CompositeImplicitAutograd $($rest:tt)*) => {
        $crate::__export_kernel! { @ "CompositeImplicitAutograd" $($rest)* }
    };
    (CompositeExplicitAutograd $($rest:tt)*) => {
        $crate::__export_kernel! { @ "CompositeExplicitAutograd" $($rest)* }
    };
    (CompositeExplicitAutogradNonFunctional $($rest:tt)*) => {
        $crate::__export_kernel! { @ "CompositeExplicitAutogradNonFunctional" $($rest)* }
    };
    (Autograd $($rest:tt)*) => { $crate::__export_kernel! { @ "Autograd" $($rest)* } };
    (AutogradCPU $($rest:tt)*) => { $crate::__export_kernel! { @ "AutogradCPU" $($rest)* } };
    (AutogradOther $($rest:tt)*) => { $crate::__export_kernel! { @ "AutogradOther" $($rest)* } };
    (ADInplaceOrView $($rest:tt)*) => { $crate::__export_kernel! { @ "ADInplaceOrView" $($rest)* } };
    (FuncTorchBatched $($rest:tt)*) => { $crate::__export_kernel! { @ "FuncTorchBatched" $($rest)* } };
    (FuncTorchBatchedDecomposition $($rest:tt)*) => {
        $crate::__export_kernel! { @ "FuncTorchBatchedDecomposition" $($rest)* }
    };
    (AutocastCPU $($rest:tt)*) => { $crate::__export_kernel! { @ "AutocastCPU" $($rest)* } };
    (AutocastCUDA $($rest:tt)*) => { $crate::__export_kernel! { @ "AutocastCUDA" $($rest)* } };
    (AutocastPrivateUse1 $($rest:tt)*) => { $crate::__export_kernel! { @ "AutocastPrivateUse1" $($rest)* } };
    (Functionalize $($rest:tt)*) => { $crate::__export_kernel! { @ "Functionalize" $($rest)* } };
    (Conjugate $($rest:tt)*) => { $crate::__export_kernel! { @ "Conjugate" $($rest)* } };
    (Negative $($rest:tt)*) => { $crate::__export_kernel! { @ "Negative" $($rest)* } };
    (ZeroTensor $($rest:tt)*) => { $crate::__export_kernel! { @ "ZeroTensor" $($rest)* } };
    (BackendSelect $($rest:tt)*) => { $crate::__export_kernel! { @ "BackendSelect" $($rest)* } };
    (Python $($rest:tt)*) => { $crate::__export_kernel! { @ "Python" $($rest)* } };
    (CUDA $($rest:tt)*) => { $crate::__export_kernel! { @ "CUDA" $($rest)* } };
    (AutogradCUDA $($rest:tt)*) => { $crate::__export_kernel! { @ "AutogradCUDA" $($rest)* } };
    (PrivateUse1 $($rest:tt)*) => { $crate::__export_kernel! { @ "PrivateUse1" $($rest)* } };
    (AutogradPrivateUse1 $($rest:tt)*) => { $crate::__export_kernel! { @ "AutogradPrivateUse1" $($rest)* } };
    (SparseCPU $($rest:tt)*) => { $crate::__export_kernel! { @ "SparseCPU" $($rest)* } };
    (QuantizedCPU $($rest:tt)*) => { $crate::__export_kernel! { @ "QuantizedCPU" $($rest)* } };
    (@ $key:literal false $symbol:literal) => {
        $crate::__check_symbol! { $key $symbol }
        #[unsafe(export_name = $crate::__private::concat!("torch_library.kernel.", $symbol, ".", $key))]
        static EXPORTED: $crate::__private::KernelRecord = KERNEL;
    };
    (@ $key:literal true $symbol:literal) => {
        $crate::__check_symbol! { $key $symbol }
        #[unsafe(export_name = $crate::__private::concat!("torch_library.override.", $symbol, ".", $key))]
        static EXPORTED: $crate::__private::KernelRecord = KERNEL;
    };
    ($key:ident $overrides:tt $symbol:literal) => {
        static ALONE: [$crate::__private::KernelRecord; 1] = [KERNEL];
        $crate::__private::submit! { $crate::__private::Record::Kernels(&ALONE) }
    };
}

/// Rejects a symbol that its operator does not refer to.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_symbol {
    ($key:literal $symbol:literal) => {
        const _: () = $crate::__private::assert!($crate::__private::check::is_symbol($symbol));
        const _: () = $crate::__private::assert!(
            $crate::__private::is_referred_to($symbol, __operator::SYMBOL, $key),
            "with selective linking, a kernel is registered under the name of the module that declares its operator, \
             not under one that it was imported by"
        );
    };
}
