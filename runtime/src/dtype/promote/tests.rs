//! Promotion against PyTorch's own tables.

use super::*;

/// The types in the order of the tables' rows and columns.
const NAMES: [&str; 17] = [
    "b", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c32", "bc32", "c64", "c128", "u16",
    "u32", "u64",
];
const DTYPES: [DType; 17] = [
    DType::Bool,
    DType::UInt8,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
    DType::Complex32,
    DType::BComplex32,
    DType::Complex64,
    DType::Complex128,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
];

/// `torch.promote_types`; `-` is an error.
const PROMOTE: [&str; 17] = [
    "   b    b   u8   i8  i16  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    "  u8   u8   u8  i16  i16  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    "  i8   i8  i16   i8  i16  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    " i16  i16  i16  i16  i16  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    " i32  i32  i32  i32  i32  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    " i64  i64  i64  i64  i64  i64  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    " f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c32  c64  c64 c128  f16  f16  f16",
    "bf16 bf16 bf16 bf16 bf16 bf16 bf16  f32 bf16  f32  f64  c64 bc32  c64 c128 bf16 bf16 bf16",
    " f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c64  c64 c128  f32  f32  f32",
    " f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64 c128 c128 c128 c128  f64  f64  f64",
    " c32  c32  c32  c32  c32  c32  c32  c32  c64  c64 c128  c32  c64  c64 c128    -    -    -",
    "bc32 bc32 bc32 bc32 bc32 bc32 bc32  c64 bc32  c64 c128  c64 bc32  c64 c128    -    -    -",
    " c64  c64  c64  c64  c64  c64  c64  c64  c64  c64 c128  c64  c64  c64 c128    -    -    -",
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128    -    -    -",
    " u16    -    -    -    -    -    -  f16 bf16  f32  f64    -    -    -    -  u16    -    -",
    " u32    -    -    -    -    -    -  f16 bf16  f32  f64    -    -    -    -    -  u32    -",
    " u64    -    -    -    -    -    -  f16 bf16  f32  f64    -    -    -    -    -    -  u64",
];

/// `torch.result_type` of a tensor with dimensions (rows) and one without (columns).
const DIMENSIONED_WITH_ZERO_DIM: [&str; 17] = [
    "   b    b   u8   i8  i16  i32  i64  f16 bf16  f32  f64  c32 bc32  c64 c128    -    -    -",
    "  u8   u8   u8   u8   u8   u8   u8  f16 bf16  f32  f64  c32 bc32  c64 c128   u8   u8   u8",
    "  i8   i8   i8   i8   i8   i8   i8  f16 bf16  f32  f64  c32 bc32  c64 c128   i8   i8   i8",
    " i16  i16  i16  i16  i16  i16  i16  f16 bf16  f32  f64  c32 bc32  c64 c128  i16  i16  i16",
    " i32  i32  i32  i32  i32  i32  i32  f16 bf16  f32  f64  c32 bc32  c64 c128  i32  i32  i32",
    " i64  i64  i64  i64  i64  i64  i64  f16 bf16  f32  f64  c32 bc32  c64 c128  i64  i64  i64",
    " f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  c32  c32  c32  c32  f16  f16  f16",
    "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bc32 bc32 bc32 bc32 bf16 bf16 bf16",
    " f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  c64  c64  c64  c64  f32  f32  f32",
    " f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64 c128 c128 c128 c128  f64  f64  f64",
    " c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32  c32",
    "bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32 bc32",
    " c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64",
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
    " u16  u16  u16  u16  u16  u16  u16  f16 bf16  f32  f64  c32 bc32  c64 c128  u16  u16  u16",
    " u32  u32  u32  u32  u32  u32  u32  f16 bf16  f32  f64  c32 bc32  c64 c128  u32  u32  u32",
    " u64  u64  u64  u64  u64  u64  u64  f16 bf16  f32  f64  c32 bc32  c64 c128  u64  u64  u64",
];

/// The results of a function for every pair of types, in the form of the tables above.
fn table(answer: impl Fn(DType, DType) -> Result<DType>) -> Vec<String> {
    let name = |dtype| NAMES[DTYPES.iter().position(|known| *known == dtype).unwrap()];
    let row = |a: DType| {
        let answers = DTYPES.map(|b| format!(" {:>4}", answer(a, b).map_or("-", name)));
        format!("{:>4}{}", name(a), answers.concat())
    };
    DTYPES.map(row).to_vec()
}

#[test]
fn promotion_is_pytorchs() {
    assert_eq!(table(promote_types), PROMOTE);
    assert_eq!(table(|a, b| promote_types(b, a)), PROMOTE, "in either order");
}

#[test]
fn weaker_operands_count_only_by_kind() {
    use Operand::*;
    let strong_first = table(|a, b| result_type([Dimensioned(a), ZeroDim(b)]));
    assert_eq!(strong_first, DIMENSIONED_WITH_ZERO_DIM);
    assert_eq!(
        table(|a, b| result_type([ZeroDim(b), Dimensioned(a)])),
        DIMENSIONED_WITH_ZERO_DIM,
        "in either order"
    );
    assert_eq!(table(|a, b| result_type([ZeroDim(a), ZeroDim(b)])), PROMOTE, "equals promote each other");
}

#[test]
fn numbers_count_by_kind_with_the_default_width() {
    use Operand::*;
    let cases = [
        (vec![ZeroDim(DType::UInt8), Number(DType::Int64)], DType::UInt8),
        (vec![Dimensioned(DType::Bool), Number(DType::Int64)], DType::Int64),
        (vec![ZeroDim(DType::Int64), Number(DType::Float64)], DType::Float32),
        (vec![Dimensioned(DType::Float64), Number(DType::Complex128)], DType::Complex128),
        (vec![Dimensioned(DType::Float16), Number(DType::Complex128)], DType::Complex32),
        (vec![Number(DType::Float64), Number(DType::Int64)], DType::Float32),
        (vec![Dimensioned(DType::Int8), ZeroDim(DType::Int64), Number(DType::Float64)], DType::Float32),
    ];
    for (operands, want) in cases {
        assert_eq!(result_type(operands.iter().copied()).unwrap(), want, "{operands:?}");
    }
    assert!(result_type([]).is_err());
}

#[test]
fn casts_never_lower_the_kind() {
    for from in DType::all() {
        for to in DType::all() {
            let lowers = from.is_complex() && !to.is_complex()
                || from.is_floating_point() && !to.is_differentiable()
                || from != DType::Bool && to == DType::Bool;
            assert_eq!(can_cast(from, to), !lowers, "{from} to {to}");
        }
    }
}

#[test]
fn an_error_names_both_types() {
    assert_eq!(
        promote_types(DType::UInt16, DType::Int64).unwrap_err().to_string(),
        "uint16 and int64 have no common type: uint16, uint32 and uint64 combine with real floats only"
    );
}

#[test]
fn floats_of_eight_bits_combine_with_themselves_and_with_weaker_operands() {
    use Operand::*;
    let (float8, other) = (DType::Float8E4M3Fn, DType::Float8E5M2);
    for with in DType::all().filter(|with| *with != float8) {
        assert!(promote_types(float8, with).is_err() && promote_types(with, float8).is_err(), "{with}");
    }
    let with = |weak| result_type([Dimensioned(float8), weak]);
    for weak in [
        Number(DType::Float64),
        Number(DType::Int64),
        ZeroDim(DType::Float32),
        ZeroDim(other),
        ZeroDim(float8),
    ] {
        assert_eq!(with(weak).unwrap(), float8, "{weak:?}");
    }
    assert!(result_type([Dimensioned(DType::Int64), ZeroDim(float8)]).is_err());
    assert_eq!(
        with(Number(DType::Complex128)).unwrap_err().to_string(),
        "float8_e4m3fn and complex64 have no common type: there are no complex numbers of float8_e4m3fn"
    );
    assert_eq!(
        promote_types(float8, DType::Float32).unwrap_err().to_string(),
        "float8_e4m3fn and float32 have no common type: floats of eight bits combine with no other type, convert one"
    );
}
