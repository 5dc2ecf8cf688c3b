//! Printed tensors compared with PyTorch's own output, which `golden/print.py` recorded.

use torch_library::element::Complex64;
use torch_library::{DType, Device, Scalar, Tensor, match_dtype};

/// The tensor that a case's first line describes: `float32 requires_grad [2,2] 1 2 3 4`.
fn tensor(description: &str) -> Tensor {
    let (dtype, rest) = description.split_once(" [").or_else(|| description.split_once('[')).unwrap();
    let (sizes, values) = rest.split_once(']').unwrap();
    let (dtype, requires_grad) = match dtype.strip_suffix(" requires_grad") {
        Some(dtype) => (dtype, true),
        None => (dtype, false),
    };
    let dtype: DType = dtype.parse().unwrap();
    let sizes: Vec<i64> =
        sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect();
    let count: i64 = sizes.iter().product();
    let values: Vec<Complex64> = match values.trim().strip_prefix('*') {
        Some(step) => (0..count).map(|i| Complex64::from(i as f64 * step.parse::<f64>().unwrap())).collect(),
        None => values.split_whitespace().map(number).collect(),
    };
    let x = match_dtype!(dtype, T => {
        Tensor::from_vec::<T>(values.iter().map(|value| Scalar::from(*value).cast()).collect(), &sizes).unwrap()
    });
    x.set_requires_grad(requires_grad).unwrap();
    x
}

/// A Python number: `1.5`, `-inf`, `1-2.5j`, `nan+infj`.
fn number(text: &str) -> Complex64 {
    let Some(text) = text.strip_suffix('j') else { return Complex64::from(text.parse::<f64>().unwrap()) };
    let is_sign = |(i, c): (usize, char)| i > 0 && "+-".contains(c) && !text[..i].ends_with('e');
    match text.char_indices().rfind(|x| is_sign(*x)) {
        Some((sign, _)) => Complex64::new(text[..sign].parse().unwrap(), text[sign..].parse().unwrap()),
        None => Complex64::new(0.0, text.parse().unwrap()),
    }
}

#[test]
fn texts_are_pytorchs() {
    // `PRINT_GOLDEN` names another file of the same format, such as a longer run of `print.py`.
    let golden = match std::env::var_os("PRINT_GOLDEN") {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("golden/print.txt").to_owned(),
    };
    let cases: Vec<(&str, &str)> =
        golden.split("== ").skip(1).map(|case| case.trim_end().split_once('\n').unwrap()).collect();
    assert!(cases.len() > 100);
    for (description, text) in cases {
        assert_eq!(tensor(description).to_string(), text, "{description}");
    }
}

#[test]
fn tensors_without_data_show_their_sizes() {
    let meta = |sizes: &[i64], dtype| Tensor::empty(sizes, dtype, Device::META).unwrap().to_string();
    assert_eq!(meta(&[2, 3], DType::Float32), "tensor(..., device='meta', size=(2, 3))");
    assert_eq!(meta(&[2], DType::Int64), "tensor(..., device='meta', size=(2,), dtype=torch.int64)");
    assert_eq!(meta(&[], DType::Complex64), "tensor(..., device='meta', size=(), dtype=torch.complex64)");
    assert_eq!(meta(&[0], DType::Float32), "tensor(..., device='meta', size=(0,))");
}

#[test]
fn strided_views_print_their_own_elements() {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]).strided_view(&[3, 2], &[1, 3], 0).unwrap();
    assert_eq!(x.to_string(), "tensor([[1, 4],\n        [2, 5],\n        [3, 6]], dtype=torch.int32)");
    assert_eq!(format!("{x:?}"), x.to_string());
}

#[test]
fn a_dimension_of_six_is_printed_whole_where_one_of_seven_is_cut() {
    let rows = |rows: i64| {
        let text = Tensor::zeros(&[rows, 400], DType::Int64, Device::CPU).unwrap().to_string();
        (text.lines().count(), text.contains("\n        ...,"))
    };
    assert_eq!(rows(6), (6, false));
    assert_eq!(rows(7), (7, true)); // three rows, the ellipsis, three rows
}

#[test]
fn a_thousand_elements_are_printed_and_one_more_is_summarised() {
    let text = |count: i64| Tensor::zeros(&[count], DType::Int64, Device::CPU).unwrap().to_string();
    assert_eq!(text(1000).matches('0').count(), 1000);
    assert_eq!(text(1001), "tensor([0, 0, 0,  ..., 0, 0, 0])");
}

#[test]
fn the_ends_of_what_is_printed_in_decimals_are_pytorchs() {
    let texts: Vec<String> = [
        vec![1e-4],
        vec![9.9e-5],
        vec![1e8],
        vec![1e8 + 1.0],
        vec![1.0, 1000.0],
        vec![1.0, 1001.0],
        vec![0.0, 1.5],
    ]
    .into_iter()
    .map(|values| Tensor::from(values).to_string().replace(", dtype=torch.float64", ""))
    .collect();
    let expected = [
        "tensor([0.0001])",
        "tensor([9.9000e-05])",
        "tensor([100000000.])",
        "tensor([1.0000e+08])",
        "tensor([   1., 1000.])",
        "tensor([1.0000e+00, 1.0010e+03])",
        "tensor([0.0000, 1.5000])",
    ];
    assert_eq!(texts, expected);
}

/// A line has 80 columns, but PyTorch counts two characters that it does not print.
#[test]
fn a_suffix_that_does_not_fit_stands_on_a_line_of_its_own() {
    let fits = Tensor::from(vec![10i32; 13]).to_string();
    assert_eq!(fits, format!("tensor([{}], dtype=torch.int32)", vec!["10"; 13].join(", ")));
    let is_too_long = Tensor::from(vec![1i8; 18]).to_string();
    assert_eq!(is_too_long, format!("tensor([{}],\n       dtype=torch.int8)", vec!["1"; 18].join(", ")));
}
