//! Returns that are views, which become `as_strided` of the argument, since PyTorch can differentiate that.
#![expect(unsafe_code, reason = "takes the words of returns and gives others")]

use std::cell::Cell;

use torch_library::{OperatorHandle, Result, ensure};

use crate::handle::Handle;
use crate::outgoing::as_strided;
use crate::shim::Word;

thread_local! {
    static REQUIRED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call whose returns have to be views because a gradient is needed, which the tensors of the call itself, below
/// autograd, may not show.
pub(crate) fn required<R>(call: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            REQUIRED.set(self.0);
        }
    }
    let _restore = Restore(REQUIRED.replace(true));
    call()
}

/// Whether the current call runs inside [`required`].
pub(crate) fn are_required() -> bool {
    REQUIRED.get()
}

/// Replaces each return by an `as_strided` view of its base.
///
/// # Errors
/// A return has another dtype than its base.
///
/// # Safety
/// * The first words are owned tensors, one for each base.
pub(crate) unsafe fn differentiable(
    operator: OperatorHandle,
    bases: &[Handle],
    words: &mut [Word],
) -> Result<()> {
    // Take all of them before returning an error, so that none is leaked.
    // SAFETY: the caller guarantees that they are owned tensors.
    let take = |word: &Word| unsafe { Handle::from_word(*word) };
    let returned = words[..bases.len()].iter().map(take).collect::<Vec<_>>();
    let mut given = Vec::with_capacity(bases.len());
    for (base, view) in bases.iter().zip(returned) {
        let view = view?;
        let (of_base, of_view) = (base.describe()?, view.describe()?);
        ensure!(
            of_base.dtype == of_view.dtype,
            Autograd,
            "{operator} returns a view of another type than its argument, which PyTorch does not differentiate for it"
        );
        given.push(as_strided(base, &of_view)?);
    }
    for (word, view) in words.iter_mut().zip(given) {
        *word = view.into_word();
    }
    Ok(())
}
