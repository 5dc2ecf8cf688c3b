//! A program that is built for some element types only.

use crate::cargo::{Build, compile, run};

const EXPECTED: &str = "\
bool uint8 int64 float32 float64
uint8 has 1 byte, int16 is not there
tensor([1, 2], dtype=torch.uint8)
this program is built without int16: TORCH_LIBRARY_DTYPES was \"uint8\" when it was compiled, add int16 there
this program is built without complex64: TORCH_LIBRARY_DTYPES was \"uint8\" when it was compiled, add complex64 there
";

#[test]
fn types_that_are_not_named_are_left_out() {
    let build = Build { dtypes: Some("uint8"), ..Build::new("element_types") };
    assert_eq!(run(build), EXPECTED);
    let errors = compile(Build { dtypes: Some("uint7"), ..build }).expect_err("the name of an unknown dtype");
    assert!(errors.contains("TORCH_LIBRARY_DTYPES has the name of an unknown dtype"), "{errors}");
}
