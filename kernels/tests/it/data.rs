//! Reading, writing and sharing data.

use torch_library::prelude::*;
use torch_library_kernels::data::{dlpack::Managed, npy};
use torch_library_kernels::prelude::*;

fn through_a_file(x: &Tensor) -> Result<Tensor> {
    let mut file = Vec::new();
    npy::write(x, &mut file)?;
    assert_eq!((file.len() - x.numel() as usize * x.dtype().size()) % 64, 0, "elements are aligned");
    npy::read(&file[..])
}

#[test]
fn numpy_files_keep_shape_type_and_elements() -> Result<()> {
    for x in [Tensor::from([[1i64, 2], [3, 4]]).t()?, Tensor::from([0i64; 0]), Tensor::from(7i64)] {
        let y = through_a_file(&x)?;
        assert_eq!((y.sizes(), y.to_vec::<i64>()?), (x.sizes(), x.to_vec::<i64>()?));
    }
    assert_eq!(through_a_file(&Tensor::from([true, false]))?.to_vec::<bool>()?, [true, false]);
    Ok(())
}

#[test]
fn a_file_of_numpys_own_is_read() -> Result<()> {
    // numpy.save of numpy.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype=int8)
    let file = npy_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", &[1, 4, 2, 5, 3, 6]);
    assert_eq!(npy::read(&file[..])?.to_vec::<i8>()?, [1, 2, 3, 4, 5, 6]);
    Ok(())
}

fn npy_file(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

#[test]
fn a_numpy_file_that_lies_is_an_error() {
    let of = |descr: &str, shape: &str, elements: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
        npy::read(&npy_file(&header, elements)[..]).unwrap_err().to_string()
    };
    assert_eq!(of("<i2", "2,", &[1, 0, 2]), "3 bytes do not fit sizes [2] of int16");
    assert_eq!(of("<i2", "2,", &[0; 90]), "5 bytes do not fit sizes [2] of int16", "the rest is not read");
    let huge = of("<f8", "1125899906842624,", &[0; 8]);
    assert_eq!(huge, "8 bytes do not fit sizes [1125899906842624] of float64");
    let beyond = "sizes [4611686018427387904] of float64 exceed the address space";
    assert_eq!(of("<f8", "4611686018427387904,", &[]), beyond);
    assert!(of("|u1", "-1,", &[]).contains("[-1]"));
    assert!(of("|u1", "4294967296, 4294967296", &[]).contains("[4294967296, 4294967296]"));
    assert_eq!(of("|u1", &"1,".repeat(65), &[0]), "65 dimensions, at most 64 are supported");
    assert_eq!(of("|b1", "3,", &[0, 1, 2]), "the byte 2 is not a bool, expected 0 or 1");
    assert!(of("|u1", "one,", &[0]).starts_with("an .npy file without a shape: "));
    assert!(of("|u1", "99999999999999999999,", &[0]).starts_with("an .npy file without a shape: "));
    assert!(of(&"x".repeat(60_000), "1,", &[0]).len() < 1000, "the message is not as long as the header");
}

#[test]
fn every_part_of_a_numpy_header_is_looked_at() {
    let refused = |file: &[u8]| npy::read(file).unwrap_err().to_string();
    let whole = npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", &[7]);
    for length in 0..whole.len() - 1 {
        assert_eq!(refused(&whole[..length]), "this is not an .npy file, or only the beginning of one");
    }
    assert_eq!(refused(b"\x93NUMPY\x04\x00\x00\x00\x00\x00"), "an .npy file of version 4, expected 1 to 3");
    let long = refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff");
    assert_eq!(long, "an .npy file with a header of 4294967295 bytes, at most 65535 are read");
    let unordered = refused(&npy_file("{'descr': '|u1', 'shape': (1,), }", &[7]));
    assert!(unordered.starts_with("an .npy file without an order: "), "{unordered}");
    let without = refused(&npy_file("{'fortran_order': False, 'shape': (1,), }", &[7]));
    assert!(without.starts_with("an .npy file of records or without a type: "), "{without}");
    let endless = std::io::Read::chain(&whole[..], std::io::repeat(0));
    let error = npy::read(endless).unwrap_err().to_string();
    assert_eq!(error, "2 bytes do not fit sizes [1] of uint8", "an endless reader is read no further");
}

#[cfg(feature = "safetensors")]
#[test]
fn a_safetensors_file_that_lies_is_an_error() {
    let of = |header: &str, elements: &[u8]| {
        let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), elements].concat();
        torch_library_kernels::data::safetensors::from_bytes(&file).unwrap_err().to_string()
    };
    let tensor = |name: &str, dtype: &str, shape: &str, range: &str| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{range}]}}"#)
    };
    let one = |dtype: &str, shape: &str, range: &str, elements: &[u8]| {
        of(&format!("{{{}}}", tensor("x", dtype, shape, range)), elements)
    };
    let two = |first: &str, second: &str| {
        let [first, second] =
            [("x", first), ("y", second)].map(|(name, range)| tensor(name, "U8", "2", range));
        of(&format!("{{{first},{second}}}"), &[0; 4])
    };
    let header = "safetensors: header: ";
    for (error, expected) in [
        (two("0,2", "1,3"), "safetensors: header: invalid offset for tensor `y`"),
        (two("0,2", "3,5"), "safetensors: header: invalid offset for tensor `y`"),
        (two("0,2", "0,2"), "safetensors: header: invalid offset for tensor `"),
        (two("2,0", "0,2"), "safetensors: header: invalid"),
        (one("U8", "2", "0,3", &[0; 3]), "safetensors: header: invalid shape, data type, or offset"),
        (one("F32", "1", "0,4", &[0; 3]), "safetensors: incomplete metadata"),
        (one("F32", "1", "0,4", &[0; 5]), "safetensors: incomplete metadata"),
        (one("F32", "4611686018427387904, 4", "0,4", &[0; 4]), "safetensors: header: overflow"),
        (one("U8", "9223372036854775808, 0", "0,0", &[]), "x: "),
        (one("U8", &["1"; 65].join(","), "0,1", &[0]), "x: 65 dimensions, at most 64 are supported"),
        (one("U8", "-1", "0,1", &[0]), header),
        (one("U8", "1.5", "0,1", &[0]), header),
        (one("F31", "1", "0,4", &[0; 4]), "safetensors: header: unknown variant `F31`"),
        (one("F4", "1", "0,1", &[0]), header),
        (one("BOOL", "2", "0,2", &[1, 3]), "x: the byte 3 is not a bool, expected 0 or 1"),
        (of(&"[".repeat(100_000), &[]), header),
        (of(&format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)), &[]), header),
        (of("{", &[]), header),
        (of("", &[]), header),
        (of("{}", &[0]), "safetensors: incomplete metadata"),
    ] {
        assert!(error.starts_with(expected) && error.len() < 1000, "{expected}\n{error}");
    }
    let twice = [tensor("x", "U8", "1", "0,1"), tensor("x", "U8", "1", "0,1")].join(",");
    let error = of(&format!("{{{twice}}}"), &[0]);
    assert!(error.starts_with("safetensors: header: two tensors have the name \"x\""), "{error}");
}

#[cfg(feature = "safetensors")]
#[test]
fn a_header_longer_than_its_file_is_an_error() {
    let of =
        |file: &[u8]| torch_library_kernels::data::safetensors::from_bytes(file).unwrap_err().to_string();
    assert_eq!(of(b"short"), "safetensors: 5 bytes are too few for the length of a header");
    assert_eq!(of(b"\x09\0\0\0\0\0\0\0{}"), "safetensors: a header of 9 bytes in a file of 10");
    let longest = "safetensors: a header of 18446744073709551615 bytes, at most 100000000 are read";
    assert_eq!(of(&[0xff; 8]), longest);
}

#[test]
fn other_files_are_refused() {
    let refused = |file: &[u8]| npy::read(file).unwrap_err().to_string();
    assert_eq!(refused(b"PK"), "this is not an .npy file, or only the beginning of one");
    let text = b"\x93NUMPY\x01\x00\x21\x00{'descr': '<U4', 'shape': (1, ), }";
    assert_eq!(refused(text), "an .npy file of elements \"<U4\", which are not supported");
    let x = Tensor::from([1.0]).to_dtype(DType::BFloat16).unwrap();
    assert_eq!(
        npy::write(&x, Vec::new()).unwrap_err().to_string(),
        "NumPy has no bfloat16, convert to another type first"
    );
}

#[test]
fn numbers_in_the_other_byte_order_are_read() -> Result<()> {
    let file = |description: &str, elements: &[u8]| {
        let header = format!("{{'descr': '{description}', 'fortran_order': False, 'shape': (2,), }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        npy::read(&[b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()[..])
    };
    assert_eq!(file(">f4", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0])?.to_vec::<f32>()?, [1.0, -2.0]);
    assert_eq!(file(">i2", &[1, 2, 0xff, 0xfe])?.to_vec::<i16>()?, [0x102, -2]);
    // The two parts of a complex number stay in their order.
    let [one, two] = [[0x3f, 0x80, 0, 0], [0x40, 0, 0, 0]];
    let numbers = file(">c8", &[one, two, two, one].concat())?.to_dtype(DType::Complex128)?;
    assert_eq!(numbers.to_vec::<Complex64>()?, [Complex64::new(1.0, 2.0), Complex64::new(2.0, 1.0)]);
    assert!(file(">b1", &[1, 0]).is_err(), "no byte has an order");
    Ok(())
}

#[test]
fn memory_is_shared_by_dlpack_in_any_layout() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let mut y = Managed::of(&x.t()?)?.into_tensor()?;
    assert_eq!((y.strides(), y.to_vec::<f64>()?), (&[1, 2][..], vec![1.0, 3.0, 2.0, 4.0]));
    y.mul_(10)?;
    assert_eq!(x.to_vec::<f64>()?, [10.0, 20.0, 30.0, 40.0]);
    drop(x);
    assert_eq!(y.sum()?.item()?, Scalar::Float(100.0), "the memory lives on");
    let meta = Tensor::empty(&[1], DType::Float32, Device::META)?;
    assert!(Managed::of(&meta).is_err());
    drop(Managed::of(&y)?); // frees the structure, not the memory
    assert_eq!(y.numel(), 4);
    Ok(())
}
