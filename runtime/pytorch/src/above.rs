//! A call at the autograd key: passed on where nobody wants a gradient, else recorded by Python, refused by name, or made
//! of views that PyTorch differentiates.
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

/// What is above an operator's kernels.
#[derive(Debug)]
pub(crate) struct Above {
    /// The operator that is called below autograd, by name and overload.
    called: (CString, CString),
    wanted: Wanted,
    /// Where tensors are among the words.
    tensors: Vec<(usize, &'static Type)>,
}

/// What is done where a gradient is wanted.
#[derive(Debug)]
enum Wanted {
    /// The call is made, and then recorded.
    After(Box<Recorded>),
    /// The operator of this name makes the call and records it, once it is there.
    Recorded(CString, Later),
    /// There is no derivative of a write.
    Refused,
    /// Each return is a view of the argument in this word.
    Views(Vec<usize>),
}

impl Above {
    /// For an operator whose kernels have a name, and where there is a derivative the name of what records it. Nothing
    /// where there is no need to.
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

    /// Makes a call of what is below, and records it if somebody wants a gradient. `has_gradient` is asked as
    /// [`Recorded::run`] says, with which tensors of the arguments need one before the others.
    ///
    /// # Errors
    /// What the call fails with, or that it cannot be recorded: then the flag says that the words are untouched.
    ///
    /// # Safety
    /// * The words are the arguments of the operator that is called, and owned; there is room for its returns.
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
        // SAFETY: the words are arguments, and stay so until they are handed on.
        let handles = unsafe { self.handles(words) }?;
        // SAFETY: they are tensors of the call, which owns them.
        let wish = unsafe { tracking.wish(handles.into_iter()) };
        let call = |name: &CStr, overload: &CStr, words: &mut [Word]| {
            // SAFETY: the words are arguments of the operator below, and of what records it alone, which takes the same.
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
                    // SAFETY: the word is an owned tensor of the call, which stays there: this is another reference.
                    let lent = ManuallyDrop::new(unsafe { Handle::from_word(words[*source]) }?);
                    lent.share()
                };
                let bases = sources.iter().map(share).collect::<Result<Vec<_>>>()?;
                *is_untouched = false;
                views::required(|| below(words))?;
                // SAFETY: the words are now the returns, of which each is a view.
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
                // SAFETY: the words are arguments of the operator, whose returns the call leaves there.
                unsafe { recorded.run(words, &wish.needs, is_untouched, below, has_gradient) }
            }
        }
    }

    /// The tensors of a call.
    ///
    /// # Safety
    /// * The words are the arguments, which live until this returns.
    unsafe fn handles(&self, words: &[Word]) -> Result<SmallVec<[Object; 4]>> {
        let mut handles = SmallVec::new();
        for (word, ty) in &self.tensors {
            // SAFETY: the caller says that the word is an argument of this type.
            unsafe { look(ty, words[*word], &mut handles) }?;
        }
        Ok(handles)
    }
}

/// For each return the word of the argument that it is a view of; nothing where one is no tensor, or of several.
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

/// Looks at the tensors in a word, which stays whose it is.
///
/// # Safety
/// * The word is a value of this type, of tensors, and alive.
unsafe fn look(ty: &Type, word: Word, handles: &mut SmallVec<[Object; 4]>) -> Result<()> {
    match ty {
        Type::Optional(_) if word == words::NONE => {}
        Type::Optional(inner) => {
            // SAFETY: an optional that is not none points to its value.
            let value = unsafe { (word as *const Word).read() };
            // SAFETY: which is of the type inside.
            unsafe { look(inner, value, handles) }?;
        }
        Type::List(element) => {
            // SAFETY: it is a list, whose elements stay its own.
            for value in unsafe { words::elements(word as Object) }? {
                // SAFETY: it is of the type of elements.
                unsafe { look(element, value, handles) }?;
            }
        }
        _ => handles.push(word as Object),
    }
    Ok(())
}
