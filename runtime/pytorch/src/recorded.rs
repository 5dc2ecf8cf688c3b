//! A recorded call: it is made first, below autograd, and Python then makes the node for results that are there.
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

/// How many kinds of calls are remembered.
const MOST: usize = 4096;

/// What records the calls of an operator.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The operator that makes the node. It takes what the call took, the results, and which of them have no gradient.
    name: CString,
    /// Whether it is there.
    defined: Later,
    /// The types of the words of a call.
    arguments: Vec<Type>,
    /// How many results there are.
    results: usize,
    known: Mutex<Known>,
}

/// All that a row of derivatives may ask of a call.
type Asked = SmallVec<[Word; 32]>;

/// Which results have no gradient, a bit each: of the last call, and of others.
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
    /// For an operator whose calls are made before they are recorded.
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

    /// Makes a call by a function that goes on below autograd, and records it. `has_gradient` tells of arguments and
    /// results, as words that are its own, which results have a gradient.
    ///
    /// # Errors
    /// What the call fails with, or the derivative; that an argument cannot be kept, and the words are untouched.
    ///
    /// # Safety
    /// * The words are the arguments of the operator, and owned; there is room for its returns, which the function
    ///   leaves there.
    pub(crate) unsafe fn run(
        &self,
        words: &mut [Word],
        needs: &[bool],
        is_untouched: &mut bool,
        call: impl FnOnce(&mut [Word]) -> Result<()>,
        has_gradient: impl FnOnce(&[Word], &[Word]) -> Result<Vec<bool>>,
    ) -> Result<()> {
        // SAFETY: the words are arguments of these types.
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
        // SAFETY: the operator was defined with these arguments and results, and the number behind them; they are more
        // than its returns.
        with_kinds(|| unsafe { words::call(&self.name, c"", &mut stack) })?;
        words[..self.results].copy_from_slice(&stack[..self.results]);
        Ok(())
    }

    /// A bit for each result that has no gradient.
    fn lost(
        &self,
        kept: &Owned<'_>,
        needs: &[bool],
        has_gradient: impl FnOnce(&[Word], &[Word]) -> Result<Vec<bool>>,
    ) -> Result<Word> {
        let mut key = SmallVec::new();
        key.extend(needs.iter().map(|need| Word::from(*need)));
        // SAFETY: the words are of these types, and live until they are given up.
        let is_told = kept.iter().all(|(ty, word)| unsafe { tell(ty, word, &mut key) }.is_ok());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if is_told && let Some(lost) = known().get(&key) {
            return Ok(lost);
        }
        let arguments = kept.words.len() - self.results;
        // SAFETY: the words are of these types.
        let again = unsafe { Owned::shared(&kept.types[..], &kept.words) }?.give_up();
        let flags = has_gradient(&again[..arguments], &again[arguments..])?;
        let lost = flags.iter().enumerate().map(|(index, flag)| Word::from(!flag) << index).sum();
        if is_told {
            known().insert(key, lost);
        }
        Ok(lost)
    }
}

/// Words that are owned until they are given up.
struct Owned<'t> {
    types: SmallVec<[&'t Type; 8]>,
    words: SmallVec<[Word; 8]>,
}

impl<'t> Owned<'t> {
    /// As many words as there are types, each shared.
    ///
    /// # Safety
    /// * The words are values of these types, and alive.
    unsafe fn shared<T: std::borrow::Borrow<Type> + 't>(types: &'t [T], words: &[Word]) -> Result<Owned<'t>> {
        let mut owned = Owned { types: SmallVec::new(), words: SmallVec::new() };
        for (ty, word) in types.iter().zip(words) {
            // SAFETY: the caller says that the word is a value of this type.
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

    /// The words, which are the caller's now.
    fn give_up(mut self) -> SmallVec<[Word; 8]> {
        std::mem::take(&mut self.words)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        for (ty, word) in self.types.iter().zip(self.words.drain(..)) {
            // SAFETY: the word is of this type, and nobody else's.
            drop(unsafe { Incoming::default().take(ty, word, Sight::StandIn) });
        }
    }
}

/// Writes down all of a value but elements.
///
/// # Errors
/// It is not told: sizes that are symbols, a tensor of a kind that is not known here.
///
/// # Safety
/// * The word is a value of this type, and alive.
unsafe fn tell(ty: &Type, word: Word, key: &mut SmallVec<[Word; 32]>) -> Result<()> {
    match ty {
        Type::Tensor => {
            // SAFETY: it is a tensor, whose reference stays where it is.
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
            // SAFETY: an optional that is not none points to its value, which is of the type inside.
            unsafe { tell(inner, (word as *const Word).read(), key) }?;
        }
        Type::List(element) => {
            // SAFETY: it is a list, which stays as it is.
            let elements = unsafe { words::elements(word as Object) }?;
            key.push(elements.len() as Word);
            // SAFETY: they are of this type.
            elements.iter().try_for_each(|word| unsafe { tell(element, *word, key) })?;
        }
        Type::Str => {
            // SAFETY: it is a string, which stays as it is.
            let text = unsafe { words::text(word as Object) }?;
            key.push(text.len() as Word);
            key.extend(text.bytes().map(Word::from));
        }
        Type::Bool => key.push(word & 0xff),
        _ => key.push(word),
    }
    Ok(())
}
