//! Naming a private backend changes the whole process, hence a test binary of its own.

use torch_library::{DispatchKey, DispatchKeySet, ErrorKind, Result, register_backend_name};

#[test]
fn a_private_backend_takes_one_name() -> Result<()> {
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
        "PrivateUse1 is named \"xyz\" at runtime/tests/backend_name.rs:9:5 and \"abc\" at \
         runtime/tests/backend_name.rs:7:30; a process has one name for it"
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
    Ok(())
}
