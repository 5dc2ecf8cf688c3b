//! A call at the autograd key: passed on if no gradient is needed, otherwise recorded by Python, refused with an error,
//! or, for views, answered with views that PyTorch differentiates.
#![expect(unsafe_code, reason = "looks at the words of PyTorch's stack, and calls operators with them")]

use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;

use smallvec::SmallVec;
use torch_library::schema::{Schema, Type};
use torch_library::{OperatorHandle, Result, bail};

use crate::exception::with_kinds;
use crate::handle::Handle;
use crate::later::Later;
use crate::plan::{Passing, is_tensors, passing};
use crate::recorded::Recorded;
use crate::shim::{Object, Word};
use crate::tracking::Tracking;
use crate::{views, words};

/// The kernel at the autograd key, above an operator's other kernels.
#[derive(Debug)]
pub(crate) struct Above {
    /// The operator that is called below autograd, by name and overload.
    called: (CString, CString),
    wanted: Wanted,
    /// The words that contain tensors, with their types.
    tensors: Vec<(usize, &'static Type)>,
}

/// What is done when a gradient is needed.
#[derive(Debug)]
enum Wanted {
    /// The call is made, and then recorded.
    After(Box<Recorded>),
    /// The operator of this name, which is defined when first needed, makes the call and records it.
    Recorded(CString, Later),
    /// The call fails: the operator writes to an argument and has no derivative.
    Refused,
    /// Each return is a view of the argument at this index among the words.
    Views(Vec<usize>),
}

impl Above {
    /// Makes the autograd kernel of an operator. `called` names the operator that the kernels are registered for, and
    /// `recorded` the one that records calls, if there is a derivative. Returns `None` if no such kernel is needed.
    pub(crate) fn new(schema: &'static Schema, called: &str, recorded: Option<&str>) -> Option<Above> {
        let namespace = schema.name.namespace.as_deref().unwrap_or_default();
        let text = |text: String| CString::new(text).unwrap_or_default();
        let (name, overload) = called.split_once('.').unwrap_or((called, ""));
        let (mut tensors, mut words, mut word) = (Vec::new(), Vec::new(), 0);
        for argument in &schema.arguments {
            if is_tensors(&argument.ty) {
                tensors.push((word, &argument.ty));
            }
            words.push(word);
            word += if passing(&argument.ty) == Ok(Passing::Scalar) { 3 } else { 1 };
        }
        let wanted = match recorded {
            Some(name) => {
                let name = text(format!("{namespace}::{name}"));
                let python = || Wanted::Recorded(name.clone(), Later::of(schema));
                Recorded::new(schema, name.clone())
                    .map_or_else(python, |recorded| Wanted::After(Box::new(recorded)))
            }
            None if schema.is_mutable() => Wanted::Refused,
            None if schema.has_alias_info() => Wanted::Views(sources(schema, &words)?),
            None => return None,
        };
        Some(Above {
            called: (text(format!("{namespace}::{name}")), text(overload.to_owned())),
            wanted,
            tensors,
        })
    }

    /// Whether Python records calls.
    pub(crate) fn records(&self) -> bool {
        matches!(self.wanted, Wanted::Recorded(..) | Wanted::After(_))
    }

    /// Calls the kernel below, and records the call if a gradient is needed. `has_gradient` is the closure of
    /// [`Recorded::run`], with another argument in front: which tensors of the arguments need a gradient.
    ///
    /// # Errors
    /// The error of the call; or the call cannot be recorded, and then `is_untouched` says whether the words are still
    /// the arguments.
    ///
    /// # Safety
    /// * The words are the owned arguments of the operator that is called, and there is room for its returns.
    pub(crate) unsafe fn run(
        &self,
        operator: OperatorHandle,
        words: &mut [Word],
        is_untouched: &mut bool,
        has_gradient: impl FnOnce(&[bool], &[Word], &[Word]) -> Result<Vec<bool>>,
    ) -> Result<()> {
        let Some(tracking) = Tracking::get() else {
            bail!(Internal, "{operator} was registered above its kernels in a PyTorch that has no such place")
        };
        // SAFETY: the words are arguments, and stay so until PyTorch gets them.
        let handles = unsafe { self.handles(words) }?;
        // SAFETY: they are tensors of the call, which owns them.
        let wish = unsafe { tracking.wish(handles.into_iter()) };
        let call = |name: &CStr, overload: &CStr, words: &mut [Word]| {
            // SAFETY: the words are arguments of the operator below, and also of the operator that records it, which
            // takes the same arguments.
            with_kinds(|| unsafe { words::call(name, overload, words) })
        };
        let below =
            |words: &mut [Word]| tracking.below_autograd(|| call(&self.called.0, &self.called.1, words));
        if !wish.gradient && !wish.tangent {
            *is_untouched = false;
            return below(words);
        }
        match &self.wanted {
            Wanted::Views(sources) => {
                let share = |source: &usize| {
                    // SAFETY: the word is a tensor that the call owns and keeps: `ManuallyDrop` does not delete its
                    // reference.
                    let lent = ManuallyDrop::new(unsafe { Handle::from_word(words[*source]) }?);
                    lent.share()
                };
                let bases = sources.iter().map(share).collect::<Result<Vec<_>>>()?;
                *is_untouched = false;
                views::required(|| below(words))?;
                // SAFETY: the words are now the returns, which are owned tensors, one for each base.
                unsafe { views::differentiable(operator, &bases, words) }
            }
            _ if wish.tangent => bail!(
                NotSupported,
                "{operator} has no forward-mode derivative in PyTorch: use reverse mode (`backward`, `torch.func.vjp`)"
            ),
            Wanted::Refused => bail!(
                Autograd,
                "{operator} writes to an argument, one of its arguments requires grad, and it has no derivative in \
                 PyTorch: detach them, or use `torch.no_grad()`"
            ),
            Wanted::Recorded(name, defined) => {
                *is_untouched = false;
                defined.ensure();
                call(name, c"", words)
            }
            Wanted::After(recorded) => {
                let has_gradient =
                    |arguments: &[Word], results: &[Word]| has_gradient(&wish.needs, arguments, results);
                // SAFETY: the words are arguments of the operator, and `below` leaves its returns there.
                unsafe { recorded.run(words, &wish.needs, is_untouched, below, has_gradient) }
            }
        }
    }

    /// The handles of the tensors of a call.
    ///
    /// # Safety
    /// * The words are the arguments, which stay alive until this returns.
    unsafe fn handles(&self, words: &[Word]) -> Result<SmallVec<[Object; 4]>> {
        let mut handles = SmallVec::new();
        for (word, ty) in &self.tensors {
            // SAFETY: the caller guarantees that the word is an argument of this type.
            unsafe { look(ty, words[*word], &mut handles) }?;
        }
        Ok(handles)
    }
}

/// For each return, the word of the argument that it is a view of. `None` if a return is not a tensor, or may alias
/// several arguments or none.
fn sources(schema: &Schema, words: &[usize]) -> Option<Vec<usize>> {
    let source = |ret: &torch_library::schema::Return| {
        let alias = ret.alias.as_ref().filter(|_| ret.ty == Type::Tensor)?;
        let mut of = schema.arguments.iter().enumerate().filter(|(_, argument)| {
            argument.ty == Type::Tensor
                && argument.alias.as_ref().is_some_and(|other| other.before == alias.before)
        });
        of.next().filter(|_| of.next().is_none()).map(|(index, _)| words[index])
    };
    schema.returns.iter().map(source).collect()
}

/// Collects the tensors in a word, whose ownership does not change.
///
/// # Safety
/// * The word is a live value of this type, which is a type of tensors.
unsafe fn look(ty: &Type, word: Word, handles: &mut SmallVec<[Object; 4]>) -> Result<()> {
    match ty {
        Type::Optional(_) if word == words::NONE => {}
        Type::Optional(inner) => {
            // SAFETY: an optional that is not none points to its value.
            let value = unsafe { (word as *const Word).read() };
            // SAFETY: the value has the inner type.
            unsafe { look(inner, value, handles) }?;
        }
        Type::List(element) => {
            // SAFETY: it is a list, which keeps its elements.
            for value in unsafe { words::elements(word as Object) }? {
                // SAFETY: it has the type of the elements.
                unsafe { look(element, value, handles) }?;
            }
        }
        _ => handles.push(word as Object),
    }
    Ok(())
}
