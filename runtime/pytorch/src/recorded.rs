//! Recorded calls: the call is made first, below autograd, and Python then makes the autograd node for its results.
#![expect(unsafe_code, reason = "keeps words of PyTorch's stack, and calls operators with them")]

use std::collections::HashMap;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;
use torch_library::Result;
use torch_library::schema::{Schema, Type};

use crate::exception::with_kinds;
use crate::handle::Handle;
use crate::incoming::{Incoming, Sight};
use crate::later::Later;
use crate::plan::{self, Passing, passing};
use crate::shim::{Object, Word};
use crate::words;

/// The maximum number of calls, told apart by sizes, dtypes and so on, whose answers are cached.
const MOST: usize = 4096;

/// Records the calls of an operator.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The operator that makes the node. It takes the arguments of the call, the results, and which of the results have
    /// no gradient.
    name: CString,
    /// Defines that operator when it is first needed.
    defined: Later,
    /// The types of the words of a call.
    arguments: Vec<Type>,
    /// The number of results.
    results: usize,
    known: Mutex<Known>,
}

/// The properties of a call that the derivative may depend on: all but the elements of tensors.
type Asked = SmallVec<[Word; 32]>;

/// A cache of which results have no gradient, one bit each: for the last call, and for others.
#[derive(Debug, Default)]
struct Known {
    last: Option<(Asked, Word)>,
    all: HashMap<Asked, Word>,
}

impl Known {
    fn get(&mut self, asked: &Asked) -> Option<Word> {
        if let Some((last, lost)) = &self.last
            && last == asked
        {
            return Some(*lost);
        }
        let lost = *self.all.get(asked)?;
        self.last = Some((asked.clone(), lost));
        Some(lost)
    }

    fn insert(&mut self, asked: Asked, lost: Word) {
        if self.all.len() < MOST {
            self.all.insert(asked, lost);
        }
    }
}

impl Recorded {
    /// Makes the recorder of an operator; `None` unless its calls can be made before they are recorded.
    pub(crate) fn new(schema: &Schema, name: CString) -> Option<Recorded> {
        plan::is_recorded_after(schema).then(|| {
            let types = schema.arguments.iter().flat_map(|argument| match passing(&argument.ty) {
                Ok(Passing::Scalar) => vec![Type::Int; 3],
                _ => vec![argument.ty.clone()],
            });
            Recorded {
                name,
                defined: Later::of(schema),
                arguments: types.collect(),
                results: schema.returns.len(),
                known: Mutex::default(),
            }
        })
    }

    /// Makes a call with `call`, which continues below autograd, and records it. `has_gradient` takes arguments and
    /// results, as words that it then owns, and returns which results have a gradient.
    ///
    /// # Errors
    /// The error of the call or of its derivative; or an argument cannot be shared, and then the words are untouched.
    ///
    /// # Safety
    /// * The words are the owned arguments of the operator, and there is room for its returns, which `call` leaves
    ///   there.
    pub(crate) unsafe fn run(
        &self,
        words: &mut [Word],
        needs: &[bool],
        is_untouched: &mut bool,
        call: impl FnOnce(&mut [Word]) -> Result<()>,
        has_gradient: impl FnOnce(&[Word], &[Word]) -> Result<Vec<bool>>,
    ) -> Result<()> {
        // SAFETY: the words are live arguments of these types.
        let mut kept = unsafe { Owned::shared(&self.arguments, words) }?;
        *is_untouched = false;
        call(words)?;
        for result in &words[..self.results] {
            kept.push(&Type::Tensor, *result);
        }
        let lost = self.lost(&kept, needs, has_gradient)?;
        let mut stack = kept.give_up();
        stack.push(lost);
        self.defined.ensure();
        // SAFETY: the operator was defined with these arguments, results and the final integer, which are more words
        // than its returns.
        with_kinds(|| unsafe { words::call(&self.name, c"", &mut stack) })?;
        words[..self.results].copy_from_slice(&stack[..self.results]);
        Ok(())
    }

    /// A bit mask of the results that have no gradient.
    fn lost(
        &self,
        kept: &Owned<'_>,
        needs: &[bool],
        has_gradient: impl FnOnce(&[Word], &[Word]) -> Result<Vec<bool>>,
    ) -> Result<Word> {
        let mut key = SmallVec::new();
        key.extend(needs.iter().map(|need| Word::from(*need)));
        // SAFETY: the words are of these types, and live while `kept` owns them.
        let is_told = kept.iter().all(|(ty, word)| unsafe { tell(ty, word, &mut key) }.is_ok());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if is_told && let Some(lost) = known().get(&key) {
            return Ok(lost);
        }
        let arguments = kept.words.len() - self.results;
        // SAFETY: the words are live values of these types.
        let again = unsafe { Owned::shared(&kept.types[..], &kept.words) }?.give_up();
        let flags = has_gradient(&again[..arguments], &again[arguments..])?;
        let lost = flags.iter().enumerate().map(|(index, flag)| Word::from(!flag) << index).sum();
        if is_told {
            known().insert(key, lost);
        }
        Ok(lost)
    }
}

/// Words that are freed on drop, unless they are given up.
struct Owned<'t> {
    types: SmallVec<[&'t Type; 8]>,
    words: SmallVec<[Word; 8]>,
}

impl<'t> Owned<'t> {
    /// A new reference to the value of each word; the number of types is the number of words.
    ///
    /// # Safety
    /// * The words are live values of these types.
    unsafe fn shared<T: std::borrow::Borrow<Type> + 't>(types: &'t [T], words: &[Word]) -> Result<Owned<'t>> {
        let mut owned = Owned { types: SmallVec::new(), words: SmallVec::new() };
        for (ty, word) in types.iter().zip(words) {
            // SAFETY: the caller guarantees that the word is a live value of this type.
            owned.push(ty.borrow(), unsafe { words::share(ty.borrow(), *word) }?);
        }
        Ok(owned)
    }

    fn push(&mut self, ty: &'t Type, word: Word) {
        self.types.push(ty);
        self.words.push(word);
    }

    fn iter(&self) -> impl Iterator<Item = (&'t Type, Word)> {
        self.types.iter().copied().zip(self.words.iter().copied())
    }

    /// The words, which the caller owns now.
    fn give_up(mut self) -> SmallVec<[Word; 8]> {
        std::mem::take(&mut self.words)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        for (ty, word) in self.types.iter().zip(self.words.drain(..)) {
            // SAFETY: the word is of this type, and owned by this list alone.
            drop(unsafe { Incoming::default().take(ty, word, Sight::StandIn) });
        }
    }
}

/// Appends to a cache key everything about a value except the elements of tensors.
///
/// # Errors
/// A tensor cannot be described: its sizes are symbolic, or its dtype, layout or device is not known here.
///
/// # Safety
/// * The word is a live value of this type.
unsafe fn tell(ty: &Type, word: Word, key: &mut SmallVec<[Word; 32]>) -> Result<()> {
    match ty {
        Type::Tensor => {
            // SAFETY: it is a tensor, and `ManuallyDrop` leaves its reference alone.
            let tensor = ManuallyDrop::new(unsafe { Handle::from_word(word) }?);
            if !tensor.is_defined()? {
                key.push(Word::MAX);
                return Ok(());
            }
            let told = tensor.describe()?;
            let index = told.device.index.map_or(Word::MAX, Word::from);
            key.extend([told.dtype as Word, told.device.kind as Word, index, told.sizes.len() as Word]);
            key.extend(told.sizes.iter().chain(told.strides).map(|number| *number as Word));
        }
        Type::Optional(_) if word == words::NONE => key.push(0),
        Type::Optional(inner) => {
            key.push(1);
            // SAFETY: an optional that is not none points to its value, which is of the inner type.
            unsafe { tell(inner, (word as *const Word).read(), key) }?;
        }
        Type::List(element) => {
            // SAFETY: it is a live list, which is only read.
            let elements = unsafe { words::elements(word as Object) }?;
            key.push(elements.len() as Word);
            // SAFETY: the elements are of this type.
            elements.iter().try_for_each(|word| unsafe { tell(element, *word, key) })?;
        }
        Type::Str => {
            // SAFETY: it is a live string, which is only read.
            let text = unsafe { words::text(word as Object) }?;
            key.push(text.len() as Word);
            key.extend(text.bytes().map(Word::from));
        }
        Type::Bool => key.push(word & 0xff),
        _ => key.push(word),
    }
    Ok(())
}
