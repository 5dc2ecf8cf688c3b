//! Data in and out.

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
    let header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }";
    let file = [
        b"\x93NUMPY\x01\x00",
        &(header.len() as u16).to_le_bytes()[..],
        header.as_bytes(),
        &[1, 4, 2, 5, 3, 6],
    ];
    assert_eq!(npy::read(&file.concat()[..])?.to_vec::<i8>()?, [1, 2, 3, 4, 5, 6]);
    Ok(())
}

#[test]
fn other_files_are_refused() {
    let refused = |file: &[u8]| npy::read(file).unwrap_err().to_string();
    assert_eq!(refused(b"PK"), "this is no .npy file, or the beginning of one");
    let big_endian = b"\x93NUMPY\x01\x00\x21\x00{'descr': '>f4', 'shape': (1, ), }";
    assert_eq!(refused(big_endian), "an .npy file of elements \">f4\", which are not supported");
    let x = Tensor::from([1.0]).to_dtype(DType::BFloat16).unwrap();
    assert_eq!(
        npy::write(&x, Vec::new()).unwrap_err().to_string(),
        "NumPy has no bfloat16, convert to another type first"
    );
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
