//! Two backends for one device type, in a process of their own, because backends cannot be unregistered.

use torch_library::backend::{self, Allocation, Backend};
use torch_library::prelude::*;
use torch_library::{Conflict, DeviceType, Dispatcher, Storage, torch_backend};

torch_library! {
    mod two_backends {
        same(int x) -> int;
    }
}

#[torch_impl(two_backends, CompositeExplicitAutograd)]
fn same(x: i64) -> Result<i64> {
    Ok(x)
}

/// A backend of which only the name matters here.
struct Named(&'static str);

impl Backend for Named {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse2
    }

    fn name(&self) -> &'static str {
        self.0
    }

    fn device_count(&self) -> usize {
        1
    }

    fn allocate(&self, _: &Allocation) -> Result<Storage> {
        bail!(NotSupported, "no memory")
    }

    fn upload(&self, _: &Storage, _: usize, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn download(&self, _: &Storage, _: usize, _: &mut [u8]) -> Result<()> {
        Ok(())
    }
}

static FIRST: Named = Named("first");
torch_backend!(FIRST);
static SECOND: Named = Named("second");
torch_backend!(SECOND);

#[test]
fn init_reports_two_backends_for_one_device_type() {
    let error = torch_library::init().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let text = error.to_string();
    let lines: Vec<_> = text.lines().map(|line| line.split(".rs:").next().unwrap_or_default()).collect();
    let expected = [
        "the registrations of this program contradict each other: 1 conflict",
        "  1. there are 2 backends for privateusetwo",
        "     `first` at runtime/tests/two_backends",
        "     `second` at runtime/tests/two_backends",
        "     help: keep one, or give the other a device type that no backend serves",
    ];
    assert_eq!(lines, expected, "{text}");
    assert!(
        matches!(&Dispatcher::global().conflicts()[..], [Conflict::Backend { places, .. }] if places.len() == 2)
    );
    assert_eq!(two_backends::same(7).unwrap(), 7, "no operator is involved");
}

#[test]
fn the_second_backend_is_refused_with_the_names_of_both() {
    let unknown = "second".parse::<Device>().unwrap_err().to_string();
    assert!(unknown.contains("privateuseone, first, privateusethree"), "{unknown}");
    let error = backend::register(&SECOND).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let both = "second and first are both backends for privateusetwo, of which a process has one";
    assert_eq!(error.to_string(), both);
}
