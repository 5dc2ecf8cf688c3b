//! Libraries, definitions and kernels.
#![expect(unsafe_code, reason = "takes boxes back, and reads texts of C")]

use std::ffi::c_char;

use torch_library::{Error, ErrorKind, LibraryKind, Result, bail};

use super::numbers::TAGS;
use super::{Out, functions, others, put};
use crate::host::kernel::Entry;
use crate::host::libraries::{self, ForeignLibrary, Opening, deferred};
use crate::host::words::{self, Word, c_text};

functions! {
    fn aoti_torch_library_init_def(
        ns: *const c_char,
        file: *const c_char,
        line: u32,
        ret_new_torch_lib: Out<'_, *mut ForeignLibrary>,
    ) {
        // SAFETY: the library promises that the texts end in zeros.
        unsafe { open(LibraryKind::Definition, ns, None, (file, line), ret_new_torch_lib) }
    }

    fn aoti_torch_library_init_fragment(
        ns: *const c_char,
        file: *const c_char,
        line: u32,
        ret_new_torch_lib: Out<'_, *mut ForeignLibrary>,
    ) {
        // SAFETY: the library promises that the texts end in zeros.
        unsafe { open(LibraryKind::Fragment, ns, None, (file, line), ret_new_torch_lib) }
    }

    fn aoti_torch_library_init_impl(
        ns: *const c_char,
        k: *const c_char,
        file: *const c_char,
        line: u32,
        ret_new_torch_lib: Out<'_, *mut ForeignLibrary>,
    ) {
        // SAFETY: the library promises that the texts end in zeros.
        unsafe { open(LibraryKind::Implementation, ns, Some(k), (file, line), ret_new_torch_lib) }
    }

    fn aoti_torch_library_def(this: Option<&ForeignLibrary>, schema: *const c_char) {
        // SAFETY: the library promises that the text ends in a zero.
        let schema = unsafe { c_text(schema, "the schema") }?;
        deferred(known(this)?.define(&schema, &[]))
    }

    fn torch_library_def_with_tags(
        this: Option<&ForeignLibrary>,
        schema: *const c_char,
        tags: *const i32,
        num_tags: i32,
    ) {
        // SAFETY: the library promises that the text ends in a zero.
        let schema = unsafe { c_text(schema, "the schema") }?;
        let numbers = match usize::try_from(num_tags)? {
            0 => &[],
            // SAFETY: the library promises `count` tags.
            count if !tags.is_null() => unsafe { std::slice::from_raw_parts(tags, count) },
            count => bail!(Argument, "null where {count} tags were expected"),
        };
        let tag = |number: &i32| {
            let tag = usize::try_from(*number).ok().and_then(|number| TAGS.get(number).copied());
            tag.ok_or_else(|| Error::new(ErrorKind::Argument, format!("{number} is no tag")))
        };
        let tags: Vec<&str> = numbers.iter().map(tag).collect::<Result<_>>()?;
        deferred(known(this)?.define(&schema, &tags))
    }

    fn aoti_torch_library_impl(this: Option<&ForeignLibrary>, name: *const c_char, function: Option<Entry>) {
        // SAFETY: the library promises that the text ends in a zero.
        unsafe { implement(this, name, function) }
    }

    fn torch_library_impl(
        this: Option<&ForeignLibrary>,
        name: *const c_char,
        function: Option<Entry>,
        _extension_build_version: u64,
    ) {
        // SAFETY: the library promises that the text ends in a zero.
        unsafe { implement(this, name, function) }
    }

    /// Sets the Python module with kernels for fake tensors. There is no such Python here, so this does nothing.
    fn torch_library_set_python_module(
        this: Option<&ForeignLibrary>,
        _pymodule: *const c_char,
        _context: *const c_char,
    ) {
        known(this).map(drop)
    }

    fn aoti_torch_delete_library_object(this: *mut ForeignLibrary) {
        // SAFETY: the library promises that this is its handle, and that it no longer uses it.
        unsafe { words::take_box::<ForeignLibrary>(this.expose_provenance() as Word, "library") }
            .map(ForeignLibrary::close)
    }
}

others! { torch_library_host_is_loading }

/// Not part of PyTorch's ABI: whether this thread is loading a library, which a library that supports both hosts asks.
extern "C" fn torch_library_host_is_loading() -> i32 {
    crate::host::last::or("torch_library_host_is_loading", 0, || libraries::is_loading().into())
}

fn known(library: Option<&ForeignLibrary>) -> Result<&ForeignLibrary> {
    library.ok_or_else(|| Error::new(ErrorKind::Argument, "a null handle of a library"))
}

/// # Safety
/// * The texts end in zeros.
unsafe fn open(
    kind: LibraryKind,
    namespace: *const c_char,
    key: Option<*const c_char>,
    (file, line): (*const c_char, u32),
    ret: Out<'_, *mut ForeignLibrary>,
) -> Result<()> {
    // SAFETY: as the caller promises.
    let (namespace, file) =
        unsafe { (c_text(namespace, "the namespace")?, c_text(file, "").unwrap_or_default()) };
    // SAFETY: as the caller promises.
    let key = key.map(|key| unsafe { c_text(key, "the key") }).transpose()?;
    let opening = Opening { kind, namespace: &namespace, key: key.as_deref(), file: &file, line };
    let (library, result) = ForeignLibrary::open(&opening);
    put(ret, Box::into_raw(Box::new(library)))?;
    deferred(result)
}

/// # Safety
/// * The text ends in a zero.
unsafe fn implement(
    library: Option<&ForeignLibrary>,
    name: *const c_char,
    function: Option<Entry>,
) -> Result<()> {
    // SAFETY: as the caller promises.
    let name = unsafe { c_text(name, "the operator's name") }?;
    let function =
        function.ok_or_else(|| Error::new(ErrorKind::Argument, format!("a null kernel for {name}")))?;
    deferred(known(library)?.implement(&name, function))
}
