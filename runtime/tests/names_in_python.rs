//! Operators that are looked up by names as Python spells them.

use torch_library::Dispatcher;
use torch_library::prelude::*;

torch_library! {
    mod parcels {
        weigh.Tensor(Tensor self) -> Tensor;
        weigh.Scalar(Scalar self) -> Tensor;
        open(Tensor self) -> Tensor;
    }
}

#[test]
fn names_as_in_python_are_told_from_names_without_a_namespace() {
    let help = |name: &str| {
        let error = Dispatcher::global().find(name).unwrap_err().to_string();
        error.split_once("help: ").unwrap_or_else(|| panic!("{error}")).1.to_owned()
    };
    assert_eq!(help("parcels.open"), "in schemas it is parcels::open");
    let overloads = "an overload's name is a part of it: parcels::weigh.Scalar, parcels::weigh.Tensor";
    assert_eq!(help("parcels.weigh"), overloads);
    assert_eq!(help("torch.ops.parcels.weigh"), overloads);
    assert_eq!(help("parcels.opem"), "similar names: parcels::open");
    assert_eq!(help("weigh.Tensor"), "similar names: parcels::weigh.Tensor");
}
