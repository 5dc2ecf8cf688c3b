//! Naming a private backend, which changes the whole process and therefore has a test binary of its own.

use torch_library::{
    DispatchKey, DispatchKeySet, Error, ErrorKind, Library, Result, RuntimeKernel, Tensor, Value,
    register_backend_name,
};

#[test]
fn private_backends_take_one_name_each() -> Result<()> {
    let refuse = |key, name| register_backend_name(key, name).expect_err("it must be refused");

    register_backend_name(DispatchKey::PrivateUse1, "xyz")?;
    register_backend_name(DispatchKey::PrivateUse1, "xyz")?;
    let keys = DispatchKeySet::of_tensor(DispatchKey::PrivateUse1);
    assert_eq!(keys.to_string(), "DispatchKeySet(xyz, ADInplaceOrView, Autogradxyz, Autocastxyz)");
    assert_eq!(DispatchKey::AutogradPrivateUse1.name(), "AutogradPrivateUse1");
    for key in DispatchKey::all() {
        assert_eq!((key.to_string().parse::<DispatchKey>()?, key.name().parse::<DispatchKey>()?), (key, key));
    }
    assert_eq!(DispatchKey::for_device("xyz")?, DispatchKey::PrivateUse1);

    let twice = refuse(DispatchKey::PrivateUse1, "abc");
    assert_eq!(twice.kind(), ErrorKind::Conflict);
    assert_eq!(
        twice.to_string(),
        "PrivateUse1 is named \"xyz\" at runtime/tests/backend_name.rs:12:5 and \"abc\" at \
         runtime/tests/backend_name.rs:10:30; a process has one name for it"
    );

    assert_eq!(
        refuse(DispatchKey::CPU, "abc").to_string(),
        "cannot name CPU \"abc\": only PrivateUse1, PrivateUse2 and PrivateUse3 take a name"
    );
    assert_eq!(
        refuse(DispatchKey::PrivateUse2, "a b").to_string(),
        "\"a b\" cannot name a backend: it must be letters, digits and `_`"
    );
    for (name, meaning) in
        [("xyz", "Autocastxyz"), ("cuda", "cuda"), ("Other", "AutogradOther"), ("Sparsexyz", "Sparsexyz")]
    {
        let error = refuse(DispatchKey::PrivateUse2, name).to_string();
        assert_eq!(
            error,
            format!("{name:?} cannot name a backend: {meaning:?} already means something else")
        );
    }

    register_backend_name(DispatchKey::PrivateUse2, "second")?;
    register_backend_name(DispatchKey::PrivateUse3, "third")?;
    let three = [DispatchKey::PrivateUse1, DispatchKey::PrivateUse2, DispatchKey::PrivateUse3];
    assert_eq!(DispatchKeySet::from_keys(&three).to_string(), "DispatchKeySet(xyz, second, third)");
    assert_eq!(
        ["Sparsesecond", "Autogradthird"].map(|name| name.parse::<DispatchKey>().ok()),
        [Some(DispatchKey::SparsePrivateUse2), Some(DispatchKey::AutogradPrivateUse3),]
    );

    let missing = call_without_a_kernel()?;
    assert_eq!(missing.kind(), ErrorKind::MissingKernel);
    let text = missing.to_string();
    assert!(text.starts_with("backend_name::f has no kernel for xyz"), "{text}");
    assert!(text.contains("argument 1 `x`: Tensor with DispatchKeySet(xyz)"), "{text}");
    // The macro takes PyTorch's name alone.
    assert!(text.contains("help: write one with `#[torch_impl(backend_name, PrivateUse1)]`"), "{text}");
    Ok(())
}

/// The error of a call on the private backend of an operator that has a CPU kernel only. The backend has a kernel of
/// another operator.
fn call_without_a_kernel() -> Result<Error> {
    let mut library = Library::new("backend_name")?;
    let f = library.define("f(Tensor x) -> Tensor")?;
    library.implement("f", DispatchKey::CPU, RuntimeKernel::boxed(|_, _, _| Ok(())))?;
    library.define("g(Tensor x) -> Tensor")?;
    library.implement("g", DispatchKey::PrivateUse1, RuntimeKernel::boxed(|_, _, _| Ok(())))?;
    let x = Tensor::from([1.0]).with_key_set(DispatchKey::PrivateUse1.into());
    Ok(f.call_with([Value::from(x)], []).expect_err("no kernel"))
}
