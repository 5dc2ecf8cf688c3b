//! The functions of the ABI, under PyTorch's names.
//!
//! None is a symbol of the program: a library finds them by the table here, in an image that
//! [`image`](crate::host::image) makes of it.
#![expect(non_snake_case, reason = "the names are PyTorch's")]

mod lists;
mod numbers;
mod objects;
mod tensors;

mod create;

mod aten;
mod dispatch;
mod registration;
mod threads;

mod refused;

use std::mem::MaybeUninit;

use torch_library::{Error, ErrorKind, Result, Tensor};

/// A function and its name.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) address: *const (),
}

/// All functions.
pub(crate) fn all() -> impl Iterator<Item = Function> {
    let all = [
        lists::table(),
        numbers::table(),
        objects::table(),
        tensors::table(),
        create::table(),
        aten::table(),
        dispatch::table(),
        registration::table(),
        threads::table(),
        refused::table(),
    ];
    all.into_iter().flatten()
}

/// Where an answer goes: memory of the caller, which it may not have written to yet.
type Out<'o, T> = Option<&'o mut MaybeUninit<T>>;

/// A tensor that foreign code has a handle of.
type Handle<'h> = Option<&'h Tensor>;

/// Leaves an answer.
///
/// # Errors
/// There is no place for it.
fn put<T>(out: Out<'_, T>, value: T) -> Result<()> {
    let place = out.ok_or_else(|| Error::new(ErrorKind::Argument, "a null place for the answer"))?;
    place.write(value);
    Ok(())
}

/// Leaves a new tensor, which foreign code owns from here on.
///
/// # Errors
/// There is no place for it.
fn put_tensor(out: Out<'_, *mut Tensor>, tensor: Tensor) -> Result<()> {
    let place = out.ok_or_else(|| Error::new(ErrorKind::Argument, "a null place for the new tensor"))?;
    place.write(Box::into_raw(Box::new(tensor)));
    Ok(())
}

/// The tensor of a handle.
///
/// # Errors
/// The handle is null.
fn tensor<'h>(handle: Handle<'h>) -> Result<&'h Tensor> {
    handle.ok_or_else(|| Error::new(ErrorKind::Argument, "a null handle of a tensor"))
}

/// Functions that answer by a code: each body is a `Result<()>`.
///
/// The references in their arguments are pointers of C, which may be null where they are optional; that they are valid
/// is for the library to see to, as the headers say, and was promised by whoever loaded it.
macro_rules! functions {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$attribute])*
            extern "C" fn $name($($argument: $type),*) -> i32 {
                let run = || -> ::torch_library::Result<()> { $body };
                crate::host::last::answer(stringify!($name), run)
            }
        )*

        /// The functions of this module.
        pub(super) fn table() -> Vec<super::Function> {
            let mut all = vec![$(super::Function { name: stringify!($name), address: $name as *const () }),*];
            all.extend(others());
            all
        }
    };
}

use functions;

/// The table of functions that are written out.
macro_rules! others {
    ($($name:ident),* $(,)?) => {
        fn others() -> Vec<super::Function> {
            vec![$(super::Function { name: stringify!($name), address: $name as *const () }),*]
        }
    };
}

use others;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_function_is_there_once() {
        let mut names = HashSet::new();
        for function in all() {
            assert!(names.insert(function.name), "{} is there twice", function.name);
        }
    }
}
