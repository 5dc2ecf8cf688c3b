//! Tensors of the dtypes that this program is built for, and of others.

use torch_library::{DType, Device, Scalar, Tensor, match_dtype, result_type};

fn bytes(dtype: DType) -> String {
    match_dtype!(dtype, T: Bool | Integer | Float => format!("{dtype} has {} byte", size_of::<T>()),
        else => format!("{dtype} is not there"))
}

fn main() -> torch_library::Result<()> {
    let built: Vec<&str> = DType::all().filter(|dtype| dtype.is_built()).map(DType::name).collect();
    println!("{}", built.join(" "));
    println!("{}, {}", bytes(DType::UInt8), bytes(DType::Int16));
    let x = Tensor::from([1u8, 2]);
    println!("{x}");
    println!("{}", Tensor::empty(&[2], DType::Int16, Device::CPU).unwrap_err());
    let number = Tensor::wrapped_number(Scalar::Complex(Default::default()));
    println!("{}", result_type([x.promotion_operand(), number.promotion_operand()]).unwrap_err());
    Ok(())
}
