//! Lists, strings, and places for the values of optionals.
#![expect(unsafe_code, reason = "takes boxes back, and reads texts of C")]

use std::ffi::c_char;

use torch_library::{Error, ErrorKind, Result, ensure};

use super::{Out, functions, others, put};
use crate::host::words::{self, List, Text, Word};

functions! {
    fn torch_new_list_reserve_size(size: usize, ret: Out<'_, *mut List>) {
        let mut list = List::new();
        // A size for which there is not enough memory fails when the elements are pushed.
        let _ = list.try_reserve(size);
        put(ret, Box::into_raw(Box::new(list)))
    }

    fn torch_list_size(list: Option<&List>, size: Out<'_, usize>) {
        put(size, known(list)?.len())
    }

    fn torch_list_get_item(list: Option<&List>, index: usize, element: Out<'_, Word>) {
        let list = known(list)?;
        put(element, *list.get(index).ok_or_else(|| beyond(index, list.len()))?)
    }

    fn torch_list_set_item(list: Option<&mut List>, index: usize, element: Word) {
        let list = list.ok_or_else(null)?;
        let length = list.len();
        *list.get_mut(index).ok_or_else(|| beyond(index, length))? = element;
        Ok(())
    }

    fn torch_list_push_back(list: Option<&mut List>, element: Word) {
        list.ok_or_else(null)?.push(element);
        Ok(())
    }

    fn torch_delete_list(list: *mut List) {
        // SAFETY: the library promises that this is its list, and that it no longer uses it.
        unsafe { words::take_box::<List>(list.expose_provenance() as Word, "list") }.map(drop)
    }

    fn torch_new_string_handle(data: *const c_char, length: usize, handle: Out<'_, *mut Text>) {
        ensure!(length == 0 || !data.is_null(), Argument, "a null text of {length} bytes");
        let bytes = match length {
            0 => &[][..],
            // SAFETY: the library promises `length` bytes.
            length => unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) },
        };
        put(handle, Box::into_raw(Box::new(Text::new(bytes))))
    }

    fn torch_delete_string(handle: *mut Text) {
        // SAFETY: the library promises that this is its string, and that it no longer uses it.
        unsafe { words::take_box::<Text>(handle.expose_provenance() as Word, "string") }.map(drop)
    }

    fn torch_string_length(handle: Option<&Text>, length: Out<'_, usize>) {
        put(length, text(handle)?.bytes().len())
    }

    fn torch_string_c_str(handle: Option<&Text>, data: Out<'_, *const c_char>) {
        put(data, text(handle)?.bytes().as_ptr().cast())
    }

    fn torch_new_stable_ivalue(ret: Out<'_, *mut Word>) {
        put(ret, words::new_place()?)
    }

    fn torch_delete_stable_ivalue(value: *mut Word) {
        ensure!(!value.is_null(), Argument, "a null value of an optional");
        // SAFETY: the library promises that this is the place of an optional's value, which was allocated by `malloc`,
        // and that it no longer uses it.
        unsafe { libc::free(value.cast()) };
        Ok(())
    }
}

others! {}

fn known(list: Option<&List>) -> Result<&List> {
    list.ok_or_else(null)
}

fn text(handle: Option<&Text>) -> Result<&Text> {
    handle.ok_or_else(|| Error::new(ErrorKind::Argument, "a null handle of a string"))
}

#[cold]
fn null() -> Error {
    Error::new(ErrorKind::Argument, "a null handle of a list")
}

#[cold]
fn beyond(index: usize, length: usize) -> Error {
    Error::new(ErrorKind::Index, format!("element {index} of a list of {length}"))
}
