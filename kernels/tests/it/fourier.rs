//! Fourier transforms, with numbers that PyTorch gave.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::fake::{FakeMode, to_fake};
use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

fn line() -> Tensor {
    Tensor::from([1.0, 2.0, 4.0, -1.0, 0.5])
}

fn plane() -> Tensor {
    let numbers = [c(1.0, 1.0), c(2.0, -1.0), c(0.5, 0.0), c(0.0, 0.0), c(0.0, 1.0), c(-2.0, 0.0)];
    Tensor::from_slice(&numbers, &[2, 3]).unwrap()
}

/// Numbers in no order.
fn sample(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|at| 0.25 * (at * 7 % 11) as f64 - 1.0).collect(), sizes).unwrap()
}

#[track_caller]
fn close(found: &Tensor, want: &[(f64, f64)]) {
    let found: Vec<Complex64> = aten::to_dtype(found, DType::Complex128).unwrap().to_vec().unwrap();
    let is_close = |(found, want): (&Complex64, &(f64, f64))| (found - c(want.0, want.1)).norm() < 1e-12;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}");
}

#[track_caller]
fn same(a: &Tensor, b: &Tensor) {
    assert!(aten::allclose(a, b).unwrap(), "{a}\n{b}");
}

#[test]
fn lines_are_transformed() {
    let (a, b) = (0.6545084971874733, 0.09549150281252583);
    let (e, f) = (4.365511035905096, 3.8736047030370573);
    close(&aten::fft_fft(&line()).unwrap(), &[(6.5, 0.0), (-a, -e), (-b, f), (-b, -f), (-a, e)]);
    let half = aten::fft_rfft::call(&line(), Some(4), -1, Some("ortho")).unwrap();
    close(&half, &[(3.0, 0.0), (-1.5, -1.5), (2.0, 0.0)]);
    let conjugate = aten::fft_ihfft::call(&line(), None, -1, Some("forward")).unwrap();
    assert!(aten::is_conj(&conjugate).unwrap());
    close(&conjugate, &[(6.5, 0.0), (-a, e), (-b, -f)]);

    let half = Tensor::from([c(1.0, 2.0), c(3.0, -1.0), c(2.0, 0.5)]);
    close(
        &aten::fft_irfft::with(&half).n(4).call().unwrap(),
        &[(2.25, 0.0), (0.25, 0.0), (-0.75, 0.0), (-0.75, 0.0)],
    );
    close(&aten::fft_hfft(&half).unwrap(), &[(9.0, 0.0), (-3.0, 0.0), (-3.0, 0.0), (1.0, 0.0)]);
    let five = aten::fft_irfft::with(&half).n(5).call().unwrap().to_vec::<f64>().unwrap();
    let want = [2.2, 0.1864723414182663, -0.09828144311904907, -0.9489322304725647, -0.3392587900161743];
    assert!(
        five.len() == 5 && five.iter().zip(want).all(|(five, want)| (five - want).abs() < 1e-7),
        "{five:?}"
    );
}

#[test]
fn planes_are_transformed() {
    close(
        &aten::fft_fft2(&plane()).unwrap(),
        &[
            (1.5, 1.0),
            (0.75, -2.031088913245535),
            (0.75, 4.031088913245535),
            (5.5, -1.0),
            (-2.982050807568877, 2.433012701892219),
            (0.4820508075688772, 1.5669872981077808),
        ],
    );
    let real = aten::real(&plane()).unwrap();
    let want = [(1.5, 0.0), (0.75, -3.031088913245535), (5.5, 0.0), (-1.25, 0.4330127018922192)];
    close(&aten::fft_rfft2(&real).unwrap(), &want);
    let back = aten::fft_ihfft2(&real).unwrap();
    assert_eq!((back.sizes(), back.strides()), (&[2, 2][..], &[1, 2][..])); // as PyTorch's
    close(&back, &want.map(|(re, im)| (re / 6.0, -im / 6.0)));
    let reals = [0.4375, 0.3125, -0.5625, 0.3125, 0.9375, 0.3125, -0.0625, -0.6875];
    close(&aten::fft_irfft2(&plane()).unwrap(), &reals.map(|x| (x, 0.0)));
    let reals = [3.5, 2.5, -4.5, 2.5, 7.5, -5.5, -0.5, 2.5];
    close(&aten::fft_hfft2(&plane()).unwrap(), &reals.map(|x| (x, 0.0)));
}

/// The transform by its definition as a sum.
fn slow(x: &[Complex64]) -> Vec<Complex64> {
    let n = x.len();
    let turn = |at: usize| Complex64::from_polar(1.0, -std::f64::consts::TAU * (at % n) as f64 / n as f64);
    (0..n).map(|k| x.iter().enumerate().map(|(j, x)| x * turn(j * k)).sum()).collect()
}

#[test]
fn any_length_will_do() {
    for n in (1..40).chain([64, 97, 100, 128, 255, 360]) {
        let x = sample(&[n]);
        let numbers: Vec<Complex64> = x.to_vec::<f64>().unwrap().into_iter().map(|x| c(x, 0.0)).collect();
        let want = Tensor::from_slice(&slow(&numbers), &[n]).unwrap();
        same(&aten::fft_fft(&x).unwrap(), &want);
        same(&aten::fft_fft(&aten::to_dtype(&x, DType::Complex128).unwrap()).unwrap(), &want);
        same(&aten::fft_rfft(&x).unwrap(), &want.narrow(0, 0, n / 2 + 1).unwrap());
        same(&aten::fft_irfft::with(&aten::fft_rfft(&x).unwrap()).n(n).call().unwrap(), &x);
        same(&aten::real(&aten::fft_ifft(&want).unwrap()).unwrap(), &x);
        // In single precision.
        let narrow = aten::fft_rfft(&aten::to_dtype(&x, DType::Float32).unwrap()).unwrap();
        let back = aten::fft_irfft::with(&narrow).n(n).call().unwrap();
        let pairs = [(narrow, want.narrow(0, 0, n / 2 + 1).unwrap()), (back, x)];
        for (found, want) in pairs.map(|(found, want)| (aten::to_dtype(&found, want.dtype()).unwrap(), want))
        {
            assert!(
                aten::allclose::with(&found, &want).rtol(1e-4).atol(1e-4).call().unwrap(),
                "{n}: {found}"
            );
        }
    }
}

/// Many lines are transformed together, and read and written in other ways: all lengths whose factors are small, and
/// numbers of lines that leave some of a register empty, or some lines over.
#[test]
fn lines_that_are_transformed_together_are_those_that_are_transformed_apart() {
    let complex =
        |sizes: &[i64]| aten::complex(&sample(sizes), &aten::flip(&sample(sizes), &[0, 1]).unwrap());
    for dtype in [DType::Float32, DType::Float64] {
        let all = |found: &Tensor, want: &[Tensor], dim| {
            let want = aten::stack::call(want, dim).unwrap();
            let close = aten::allclose::with(found, &want).rtol(1e-4).atol(1e-4).call().unwrap();
            assert!(close, "{:?}, {dtype}", found.sizes());
        };
        for (len, count) in
            [(2, 9), (3, 16), (4, 33), (5, 17), (7, 40), (8, 16), (14, 19), (16, 31), (25, 24), (32, 25)]
                .into_iter()
                .chain([
                    (48, 10),
                    (49, 16),
                    (50, 18),
                    (64, 21),
                    (100, 12),
                    (128, 16),
                    (175, 9),
                    (210, 16),
                    (512, 20),
                ])
        {
            let x = aten::to_dtype(&complex(&[count, len]).unwrap(), dtype.to_complex().unwrap()).unwrap();
            let each = |f: &dyn Fn(&Tensor) -> Result<Tensor>| -> Vec<Tensor> {
                (0..count).map(|at| f(&aten::select_int(&x, 0, at).unwrap()).unwrap()).collect()
            };
            let (there, back) = (each(&|line| aten::fft_fft(line)), each(&|line| aten::fft_ifft(line)));
            let columns = aten::t(&x).unwrap();
            let apart = aten::contiguous(&columns).unwrap();
            all(&aten::fft_fft(&x).unwrap(), &there, 0);
            all(&aten::fft_ifft(&x).unwrap(), &back, 0);
            for x in [&columns, &apart] {
                all(&aten::fft_fft::with(x).dim(0).call().unwrap(), &there, 1);
                all(&aten::fft_ifft::with(x).dim(0).call().unwrap(), &back, 1);
            }
            // Through another dimension first, so that lines lie across rows.
            let plane = aten::fft_ifft::with(&aten::fft_fft2(&apart).unwrap()).dim(1).call().unwrap();
            all(&plane, &there, 1);
            let real = |x: &Tensor| aten::real(x).unwrap();
            all(&aten::fft_rfft(&real(&x)).unwrap(), &each(&|line| aten::fft_rfft(&real(line))), 0);
            all(&aten::fft_fft(&real(&x)).unwrap(), &each(&|line| aten::fft_fft(&real(line))), 0);
            let signals = each(&|line| aten::fft_irfft::with(line).n(2 * len - 2).call());
            all(&aten::fft_irfft::with(&x).n(2 * len - 2).call().unwrap(), &signals, 0);
        }
    }
}

#[test]
fn many_lines_are_shared_by_threads() {
    let x = sample(&[70, 300]);
    let x = aten::complex(&x, &x.mul(0.5).unwrap()).unwrap();
    let all = aten::fft_fft(&x).unwrap();
    for row in [0, 1, 35, 69] {
        same(&all.select(0, row).unwrap(), &aten::fft_fft(&x.select(0, row).unwrap()).unwrap());
    }
    let both = aten::fft_fftn(&x).unwrap();
    assert_eq!(both.strides(), [300, 1]);
    for column in [0, 15, 16, 299] {
        let lines = [both.select(1, column).unwrap(), all.select(1, column).unwrap()];
        same(&lines[0], &aten::fft_fft(&lines[1]).unwrap());
    }
}

#[test]
fn results_lie_as_those_of_pytorch() {
    let x = aten::to_dtype(&sample(&[2, 3, 4, 5]), DType::Complex128).unwrap();
    let turned = aten::permute(&x, &[3, 1, 0, 2]).unwrap();
    let rows: [(&[i64], &[i64], &[i64]); 5] = [
        (&[0], &[1, 40, 10, 2], &[1, 20, 60, 5]),
        (&[1], &[60, 1, 15, 3], &[3, 1, 60, 15]),
        (&[1, 0], &[3, 1, 30, 6], &[1, 5, 60, 15]),
        (&[2, 0, 1], &[12, 4, 1, 24], &[1, 5, 15, 30]),
        (&[3, 2, 1, 0], &[60, 20, 5, 1], &[1, 20, 60, 5]),
    ];
    for (dims, straight, aside) in rows {
        assert_eq!(aten::_fft_c2c(&x, dims, 0, true).unwrap().strides(), straight, "{dims:?}");
        let found = aten::_fft_c2c(&turned, dims, 0, true).unwrap();
        assert_eq!(found.strides(), aside, "{dims:?}");
        let copy = turned.contiguous().unwrap();
        same(&found, &aten::_fft_c2c(&copy, dims, 0, true).unwrap());
    }
    let real = aten::permute(&sample(&[2, 3, 4, 5]), &[3, 1, 0, 2]).unwrap();
    assert_eq!(aten::_fft_r2c(&real, &[2, 0, 1], 0, true).unwrap().strides(), [2, 1, 10, 20]);
    assert_eq!(aten::_fft_c2r(&turned, &[0, 3], 0, 6).unwrap().strides(), [6, 30, 90, 1]);
    let none = aten::zeros(&[0, 3, 4]).unwrap().permute(&[0, 2, 1]).unwrap();
    assert_eq!(aten::fft_rfft::with(&none).dim(1).call().unwrap().strides(), [9, 3, 1]);
}

#[test]
fn out_is_row_major_where_it_is_resized() {
    let mut out = Tensor::empty(&[0], DType::Complex128, Device::CPU).unwrap();
    let x = sample(&[2, 3]);
    aten::fft_fft_out::call(&x, None, 0, None, &mut out).unwrap();
    assert_eq!((out.sizes(), out.strides()), (&[2, 3][..], &[3, 1][..])); // as PyTorch's
    let found = aten::fft_fft::with(&x).dim(0).call().unwrap();
    assert_eq!(found.strides(), [1, 2]);
    same(&out, &found);
    let mut out = Tensor::empty(&[0], DType::Complex128, Device::CPU).unwrap();
    aten::fft_ihfft_out::call(&x, None, 0, None, &mut out).unwrap();
    assert_eq!(out.strides(), [1, 2]); // it conjugates element by element, and those lie as they did
    let error = aten::fft_rfft_out::call(&x, None, 0, None, &mut aten::zeros(&[0]).unwrap()).unwrap_err();
    assert!(error.to_string().contains("complex128 cannot be written to a tensor of float32"), "{error}");
}

#[test]
fn frequencies_are_those_of_the_numbers() {
    let with = |n, d| aten::fft_fftfreq::with(n).d(d).dtype(DType::Float64).call().unwrap();
    assert_eq!(with(5, 0.3).to_vec::<f64>().unwrap(), [0.0, 2.0 / 3.0, 4.0 / 3.0, -4.0 / 3.0, -2.0 / 3.0]);
    assert_eq!(with(4, 1.0).to_vec::<f64>().unwrap(), [0.0, 0.25, -0.5, -0.25]);
    assert_eq!(with(0, 1.0).sizes(), [0]);
    let half = aten::fft_rfftfreq(5).unwrap();
    assert_eq!((half.dtype(), half.to_vec::<f32>().unwrap()), (DType::Float32, vec![0.0, 0.2, 0.4]));
    assert!(aten::fft_rfftfreq(0).unwrap().to_vec::<f32>().unwrap()[0].is_nan());
    let sorted = aten::fft_fftshift(&with(5, 0.2)).unwrap();
    assert_eq!(sorted.to_vec::<f64>().unwrap(), [-2.0, -1.0, 0.0, 1.0, 2.0]);
    same(&aten::fft_ifftshift(&sorted).unwrap(), &with(5, 0.2));
    let x = sample(&[2, 3]);
    let there = aten::fft_fftshift::with(&x).dim(Some(&[-1])).call().unwrap();
    same(&aten::fft_ifftshift::with(&there).dim(Some(&[1])).call().unwrap(), &x);
}

#[test]
fn what_cannot_be_transformed_is_an_error() {
    #[track_caller]
    fn refused(found: Result<Tensor>, part: &str) {
        let error = found.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let x = sample(&[2, 3]);
    let halves = aten::to_dtype(&x, DType::Float16).unwrap();
    refused(
        aten::fft_fft(&halves),
        "aten::fft_fft: a tensor of float16, expected float32, float64 or integers",
    );
    refused(aten::fft_rfft(&plane()), "aten::fft_rfft: a tensor of complex128, expected real numbers");
    refused(aten::fft_fft(&Tensor::from(1.0)), "a tensor without dimensions has no dimension -1");
    refused(aten::fft_fft::with(&x).n(0).call(), "a transform of 0 numbers");
    refused(aten::fft_irfft(&sample(&[2, 1])), "a transform of 0 numbers");
    refused(aten::fft_fft::with(&x).norm(Some("mean")).call(), "unknown norm \"mean\"");
    refused(aten::fft_fft::with(&x).dim(2).call(), "dimension 2 is out of range");
    refused(aten::fft_fftn::with(&x).dim(Some(&[0, -2])).call(), "dimension -2 is given twice");
    refused(aten::fft_fftn::with(&x).s(Some(&[1, 2, 3])).call(), "3 sizes for a tensor of 2 dimensions");
    refused(aten::fft_fft2::with(&x).s(Some(&[1])).call(), "1 sizes for 2 dimensions");
    refused(aten::fft_rfftn::with(&x).dim(Some(&[])).call(), "no dimension to transform");
    refused(aten::_fft_c2c(&x, &[0], 0, true), "a tensor of float64, expected a complex one");
    refused(aten::_fft_c2c(&plane(), &[-1], 0, true), "counted from the front");
    refused(aten::_fft_c2c(&plane(), &[0], 3, true), "normalization 3");
    refused(aten::_fft_c2r(&plane(), &[1], 0, 7), "expected 7 / 2 + 1");
    refused(aten::fft_fftfreq::with(4).dtype(DType::Int64).call(), "frequencies of int64");
    refused(aten::fft_fftshift::with(&x).dim(Some(&[])).call(), "no dimension to shift");
}

#[test]
fn transforms_have_derivatives() {
    let real = |sizes: &[i64]| {
        let x = sample(sizes);
        x.set_requires_grad(true).unwrap();
        x
    };
    let node = |x: &Tensor| x.grad_fn().unwrap().map(|node| node.name());
    assert_eq!(node(&aten::fft_fft(&real(&[3])).unwrap()), Some("FftR2CBackward0"));
    assert_eq!(node(&aten::fft_fft2(&real(&[3, 2])).unwrap()), Some("FftC2CBackward0"));
    assert_eq!(node(&aten::fft_irfft(&real(&[3])).unwrap()), Some("FftC2RBackward0"));

    type Function = fn(&Tensor) -> Result<Tensor>;
    let functions: [Function; 10] = [
        |x| aten::fft_fft::call(x, None, 0, Some("ortho")),
        |x| aten::fft_ifft(x),
        |x| aten::fft_rfft(x),
        |x| aten::fft_rfft::with(x).n(7).call(),
        |x| aten::fft_ihfft::with(x).n(2).call(),
        |x| aten::fft_rfft2(x),
        |x| aten::fft_fft2::with(x).s(Some(&[4, 2])).call(),
        |x| aten::fft_ifftn(x),
        |x| aten::fft_ihfftn(x),
        |x| aten::_fft_r2c(x, &[0, 1], 0, false),
    ];
    for (at, function) in functions.into_iter().enumerate() {
        let function = |x: &[Tensor]| Ok(vec![aten::view_as_real(&aten::resolve_conj(&function(&x[0])?)?)?]);
        for sizes in [[3, 4], [2, 5]] {
            for check in [gradcheck, gradgradcheck] {
                let found = check(function, &[real(&sizes)], Default::default());
                found.unwrap_or_else(|error| panic!("function {at}: {error}"));
            }
        }
    }
    let functions: [Function; 6] = [
        |x| aten::fft_irfft(x),
        |x| aten::fft_irfft::with(x).n(5).call(),
        |x| aten::fft_hfft::with(x).n(7).dim(0).call(),
        |x| aten::fft_irfft2::with(x).s(Some(&[3, 5])).call(),
        |x| aten::fft_irfftn(x),
        |x| aten::fft_hfftn(x),
    ];
    for (at, function) in functions.into_iter().enumerate() {
        let function = |x: &[Tensor]| Ok(vec![function(&aten::view_as_complex(&x[0])?)?]);
        for check in [gradcheck, gradgradcheck] {
            let found = check(function, &[real(&[3, 4, 2])], Default::default());
            found.unwrap_or_else(|error| panic!("function {at}: {error}"));
        }
    }
}

#[test]
fn examples_of_a_batch_are_transformed_apart() {
    let x = sample(&[3, 4, 5]);
    let lines = vmap([&x], |[x]| aten::fft_fft::with(&x).dim(0).call()).unwrap();
    same(&lines, &aten::fft_fft::with(&x).dim(1).call().unwrap());
    let planes = vmap([&x], |[x]| aten::fft_irfftn(&x)).unwrap();
    same(&planes, &aten::fft_irfft2(&x).unwrap());
    let planes = vmap([&x], |[x]| aten::fft_ihfft2::with(&x).s(Some(&[2, 7])).call()).unwrap();
    same(&planes, &aten::fft_ihfft2::with(&x).s(Some(&[2, 7])).call().unwrap());
    let shifted = vmap([&x], |[x]| aten::fft_fftshift(&x)).unwrap();
    same(&shifted, &aten::fft_fftshift::with(&x).dim(Some(&[1, 2])).call().unwrap());
}

#[test]
fn windows_have_the_points_of_pytorch() {
    #[track_caller]
    fn points(window: Result<Tensor>, want: &[f64]) {
        let found = window.unwrap().to_vec::<f64>().unwrap();
        let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-15;
        assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}");
    }
    const WIDE: Option<DType> = Some(DType::Float64);
    let (low, high) = (0.3454915028125263, 0.9045084971874737);
    points(aten::hann_window::with(5).dtype(WIDE).call(), &[0.0, low, high, high, low]);
    points(aten::hamming_window_periodic::with(4, false).dtype(WIDE).call(), &[0.08, 0.77, 0.77, 0.08]);
    points(
        aten::hamming_window_periodic_alpha_beta::with(4, false, 0.3, 0.6).dtype(WIDE).call(),
        &[-0.3, 0.6, 0.6, -0.3],
    );
    points(aten::blackman_window_periodic::with(5, false).dtype(WIDE).call(), &[0.0, 0.34, 1.0, 0.34, 0.0]);
    points(
        aten::bartlett_window_periodic::with(6, false).dtype(WIDE).call(),
        &[0.0, 0.4, 0.8, 0.8, 0.4, 0.0],
    );
    points(aten::bartlett_window::with(5).dtype(WIDE).call(), &[0.0, 0.4, 0.8, 0.8, 0.4]);
    let (end, half) = (5.2773441320097665e-05, 0.2156727447589671);
    points(aten::kaiser_window_periodic::with(5, false).dtype(WIDE).call(), &[end, half, 1.0, half, end]);
    let (end, half) = (0.014873337104763207, 0.4829556064106269);
    points(aten::kaiser_window_beta::with(4, true, 6.0).dtype(WIDE).call(), &[end, half, 1.0, half]);

    let halves = aten::hann_window::with(6).dtype(DType::Float16).call().unwrap();
    let halves: Vec<f64> = aten::to_dtype(&halves, DType::Float64).unwrap().to_vec().unwrap();
    assert_eq!(halves, [0.0, 0.249755859375, 0.75, 1.0, 0.75048828125, 0.250732421875]); // rounded at each step
    assert_eq!(aten::kaiser_window(0).unwrap().sizes(), [0]);
    assert_eq!(aten::blackman_window(1).unwrap().to_vec::<f32>().unwrap(), [1.0]);
    let mut out = Tensor::empty(&[0], DType::Float64, Device::CPU).unwrap();
    aten::hann_window_out(5, &mut out).unwrap();
    assert_eq!((out.dtype(), out.sizes()), (DType::Float64, &[5][..]));
    let error = aten::hann_window(-1).unwrap_err().to_string();
    assert!(error.contains("aten::hann_window: a window of -1 points"), "{error}");
    let error = aten::bartlett_window::with(4).dtype(DType::Int64).call().unwrap_err().to_string();
    assert!(error.contains("a window of int64, expected a floating-point type"), "{error}");
}

fn signal() -> (Tensor, Tensor) {
    (Tensor::from([1.0, 2.0, 4.0, -1.0, 0.5, 3.0, 0.0, -2.0]), Tensor::from([0.5, 1.0, 1.0, 0.25]))
}

#[test]
fn parts_of_signals_are_transformed() {
    let (x, window) = signal();
    let found =
        aten::stft::with(&x, 4).hop_length(2).window(Some(&window)).return_complex(true).call().unwrap();
    assert_eq!((found.sizes(), found.strides()), (&[3, 3][..], &[1, 3][..])); // as PyTorch's
    let want = [(6.25, 0.0), (2.25, 0.0), (2.75, 0.0), (-3.5, -2.25), (1.5, 1.75), (0.25, -3.5)];
    close(&found, &[&want[..], &[(2.75, 0.0), (2.75, 0.0), (-2.25, 0.0)]].concat());
    let centred = aten::stft_center::with(&x, 4)
        .hop_length(2)
        .window(Some(&window))
        .normalized(true)
        .return_complex(true);
    let row = centred.call().unwrap().select(0, 1).unwrap();
    close(&row, &[(0.5, -0.75), (-1.75, -1.125), (0.75, 0.875), (0.125, -1.75), (0.0, 1.375)]);
    let small = window.narrow(0, 0, 2).unwrap();
    let all = aten::stft::call(&x, 4, Some(3), Some(2), Some(&small), false, Some(false), Some(false), None)
        .unwrap();
    assert_eq!(all.sizes(), [4, 2, 2]);
    let first = [5.0, 0.0, 3.25, 0.0, -4.0, -1.0, -3.0, -0.25, 3.0, 0.0, 2.75, 0.0, -4.0, 1.0, -3.0, 0.25];
    assert_eq!(all.to_vec::<f64>().unwrap(), first);
    let aligned = |is_aligned| {
        let form = (Some(false), Some(true), Some(is_aligned));
        aten::stft::call(&x, 4, Some(2), Some(2), None, false, form.0, form.1, form.2)
            .unwrap()
            .sizes()
            .to_vec()
    };
    assert_eq!((aligned(true), aligned(false)), (vec![4, 4], vec![4, 3]));
}

#[test]
fn signals_come_back_from_their_parts() {
    let (x, window) = signal();
    let parts = aten::stft_center::with(&x, 4)
        .hop_length(2)
        .window(Some(&window))
        .return_complex(true)
        .call()
        .unwrap();
    let back =
        |parts: &Tensor| aten::istft::with(parts, 4).hop_length(2).window(Some(&window)).call().unwrap();
    same(&back(&parts), &x);
    let short = aten::istft::with(&parts, 4).hop_length(2).window(Some(&window)).length(5).call().unwrap();
    same(&short, &x.narrow(0, 0, 5).unwrap());
    let factors = Tensor::from([c(1.0, 0.0), c(0.0, 1.0), c(-1.0, 0.0), c(2.0, 0.0), c(1.0, 0.0)]);
    let turned = [
        1.25,
        1.7647058823529411,
        -1.7,
        0.5294117647058824,
        -0.2,
        5.470588235294118,
        0.0,
        -2.1176470588235294,
    ];
    same(&back(&parts.mul(&factors).unwrap()), &Tensor::from(turned));
    let long = aten::istft::with(&parts, 4).hop_length(2).window(Some(&window)).length(12).call().unwrap();
    assert_eq!(long.narrow(0, 10, 2).unwrap().to_vec::<f64>().unwrap(), [0.0; 2]);
    let complex = aten::complex(&x, &x.neg().unwrap()).unwrap();
    let parts = aten::stft_center::with(&complex, 4).hop_length(1).call().unwrap();
    same(&aten::istft::with(&parts, 4).hop_length(1).return_complex(true).call().unwrap(), &complex);
}

#[test]
fn parts_that_cannot_be_are_errors() {
    #[track_caller]
    fn refused(found: Result<Tensor>, part: &str) {
        let error = found.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let (x, window) = signal();
    let stft = |n_fft| aten::stft::with(&x, n_fft).return_complex(true);
    refused(aten::stft(&x, 4), "return_complex must be given for real signals");
    refused(stft(9).call(), "n_fft is 9, more than the length of the signal, 8");
    refused(stft(2).call(), "hop_length is 0, expected at least 1");
    refused(stft(0).call(), "n_fft is 0, expected at least 1");
    refused(stft(4).win_length(5).call(), "win_length is 5, expected 1 to n_fft=4");
    refused(stft(4).win_length(3).window(Some(&window)).call(), "a window of sizes [4], expected [3]");
    refused(stft(i64::MAX).call(), "the length of the signal, 8");
    refused(stft(4).hop_length(i64::MIN).call(), "hop_length is -9223372036854775808");
    let complex = aten::complex(&x, &x).unwrap();
    refused(aten::stft::with(&complex, 4).onesided(true).call(), "onesided is only for real signals");
    let parts = stft(4).call().unwrap();
    refused(aten::istft(&parts, 8), "3 frequencies in each frame, expected 5");
    refused(aten::istft(&x, 4), "a tensor of float64, expected a complex one");
    refused(aten::istft::with(&parts, 4).length(i64::MIN).call(), "nothing is left of a signal of 8 numbers");
    refused(aten::istft::with(&parts, 4).hop_length(5).call(), "leave gaps");
    let holes = aten::zeros(&[4]).unwrap();
    refused(
        aten::istft::with(&parts, 4).window(Some(&holes)).call(),
        "the windows do not cover the whole signal",
    );
}

#[test]
fn parts_of_signals_have_derivatives() {
    let (x, window) = signal();
    x.set_requires_grad(true).unwrap();
    window.set_requires_grad(true).unwrap();
    let inputs = [x, window];
    let function = |x: &[Tensor]| {
        let parts = aten::stft_center::with(&x[0], 4)
            .hop_length(2)
            .window(Some(&x[1]))
            .return_complex(true)
            .call()?;
        let louder = parts.mul(&parts)?;
        let back = aten::istft::with(&louder, 4).hop_length(2).window(Some(&x[1])).call()?;
        Ok(vec![aten::view_as_real(&parts)?, back])
    };
    for check in [gradcheck, gradgradcheck] {
        check(function, &inputs, Default::default()).unwrap();
    }
    let signals = sample(&[3, 8]);
    let parts = |x: &Tensor| aten::stft_center::with(x, 4).hop_length(2).return_complex(true).call();
    same(&vmap([&signals], |[x]| parts(&x)).unwrap(), &parts(&signals).unwrap());
}

#[test]
fn a_signal_is_put_together_under_layers_without_elements() {
    let parts = plane().resolve_conj().unwrap();
    let first = aten::slice_Tensor::call(&parts, 0, Some(0), Some(1), 1).unwrap();
    let parts = aten::cat(&[parts, first]).unwrap();
    let signal = |parts: &Tensor| aten::istft::with(parts, 4).hop_length(1).call();
    let known = signal(&parts).unwrap();
    let found =
        functionalize(std::slice::from_ref(&parts), |parts| Ok(vec![signal(&parts[0])?])).unwrap().remove(0);
    same(&found, &known);
    let fake = FakeMode::run(|| signal(&to_fake(&parts)?)).unwrap();
    assert_eq!((fake.sizes(), fake.dtype()), (known.sizes(), known.dtype()));
    let quantile = FakeMode::run(|| aten::quantile(&to_fake(&line())?, &to_fake(&Tensor::from([0.5, 1.0]))?));
    assert_eq!(quantile.unwrap().sizes(), [2]);
}
