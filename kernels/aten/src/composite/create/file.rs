//! Tensors from files.

use std::fs::File;
use std::io::Read;

use torch_library::DeviceType;
use torch_library::prelude::*;

use super::{Options, creating};
use crate::aten;
use crate::below_autograd::below_autograd;

creating! { CompositeExplicitAutograd, kernels;
    from_file(filename: &str, shared: Option<bool>, size: Option<i64>), options =>
        read(filename, shared, size.unwrap_or(0), options);
}

fn read(name: &str, shared: Option<bool>, size: i64, options: Options) -> Result<Tensor> {
    const OPERATOR: &str = aten::from_file::NAME;
    ensure!(
        shared != Some(true),
        NotSupported,
        "{OPERATOR}: memory shared with {name:?} could change while it is read\n  \
         help: leave out `shared=True`, and write the tensor to a file where others need it"
    );
    ensure!(size >= 0, Argument, "{OPERATOR}: size is {size}, expected zero or more");
    let device = options.device.unwrap_or(Device::CPU);
    ensure!(device.kind == DeviceType::Cpu, Device, "{OPERATOR}: a file is read on the CPU, not on {device}");
    let dtype = options.dtype.unwrap_or(DType::DEFAULT);
    let unreadable = |error| Error::from(error).context(format!("{OPERATOR}: {name:?}"));
    let file = File::open(name).map_err(unreadable)?;
    let (found, width) = (file.metadata().map_err(unreadable)?.len(), dtype.size() as u64);
    let needed = (size as u64).checked_mul(width);
    ensure!(
        needed.is_some_and(|needed| needed <= found),
        Argument,
        "{OPERATOR}: {name:?} has {found} bytes, expected {size} elements of {dtype}, {width} bytes each"
    );
    // Bytes are booleans only if they are 0 or 1.
    let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
    let out = Options { dtype: Some(stored), ..options }.empty(&[size])?;
    if size > 0 {
        let mut bytes = below_autograd(|| aten::view_dtype(&out, DType::UInt8))?;
        let mut buffer = Vec::new();
        file.take(bytes.numel() as u64).read_to_end(&mut buffer).map_err(unreadable)?;
        ensure!(
            buffer.len() as i64 == bytes.numel(),
            Argument,
            "{OPERATOR}: {name:?} became shorter while it was read"
        );
        bytes.copy_from_slice(&buffer)?;
    }
    if dtype == DType::Bool { aten::ne_Scalar(&out, 0.into()) } else { Ok(out) }
}
