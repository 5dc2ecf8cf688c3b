//! Support for variants that share a kernel: their names, and where the result goes.

use crate::error::Result;
use crate::guard::AutoDispatchBelowADInplaceOrView;
use crate::native::derived;
use crate::output::Output;
use crate::tensor::Tensor;

/// Writes a result to the output, unless the kernel has written it there.
///
/// # Errors
/// The result cannot be written to the output.
#[inline]
pub fn finish(output: Output<'_>, result: &Tensor) -> Result<()> {
    match output.tensor() {
        Some(target) if !result.is_same(target) => copy(output, target, result),
        _ => Ok(()),
    }
}

fn copy(output: Output<'_>, target: &Tensor, result: &Tensor) -> Result<()> {
    output.prepare(result.sizes(), Some(result.strides()), result.dtype(), result.device())?;
    // Autograd has recorded the variant already, and must not record this copy.
    let _below = AutoDispatchBelowADInplaceOrView::new();
    derived::copy_into("aten::copy_", &mut target.clone(), result)
}

/// The bytes of `namespace::name`.
pub const fn joined<const N: usize>(namespace: &str, name: &str) -> [u8; N] {
    let (namespace, name, mut all) = (namespace.as_bytes(), name.as_bytes(), [b':'; N]);
    let mut at = 0;
    while at < namespace.len() {
        all[at] = namespace[at];
        at += 1;
    }
    at = 0;
    while at < name.len() {
        all[namespace.len() + 2 + at] = name[at];
        at += 1;
    }
    all
}

/// In the module of an operator with variants: accepts a kernel that serves all of them.
#[doc(hidden)]
#[macro_export]
macro_rules! __serving {
    ({ $($refusal:tt)* } $($kernel:tt)*) => { $($kernel)* };
}

/// The counterpart in the module of an operator without variants: refuses such a kernel, with the message tokens that
/// it came with. These have the span of the user's line, and so does rustc's error.
#[doc(hidden)]
#[macro_export]
macro_rules! __serving_none {
    ({ $($refusal:tt)* } $($kernel:tt)*) => {{
        $($refusal)*
        $crate::__private::RecordedKernel::Fallthrough
    }};
}

/// The full name of an operator, from the constant with its namespace.
#[doc(hidden)]
#[macro_export]
macro_rules! __operator_name {
    ($namespace:path, $name:literal) => {{
        const BYTES: [$crate::__private::u8; $namespace.len() + 2 + $name.len()] =
            $crate::__private::joined($namespace, $name);
        match ::core::str::from_utf8(&BYTES) {
            ::core::result::Result::Ok(name) => name,
            ::core::result::Result::Err(_) => "",
        }
    }};
}
