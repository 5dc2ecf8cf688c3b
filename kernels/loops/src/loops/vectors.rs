//! Which vector instructions the processor has, and functions that are compiled for each width of them.

#[cfg(target_arch = "x86_64")]
pub use processor::{has_avx2, has_avx512};

/// The vector width that kernels use, found once: asking for six processor features takes as long as adding a few dozen
/// numbers.
#[cfg(target_arch = "x86_64")]
mod processor {
    use std::env;
    use std::sync::atomic::{AtomicU8, Ordering};

    use torch_library::warning;

    /// The variable that limits the vector width that kernels use, as in PyTorch.
    const ENVIRONMENT_VARIABLE: &str = "ATEN_CPU_CAPABILITY";

    /// Whether to use AVX2 with FMA, the *wide* vectors, for which all loops are compiled.
    #[inline(always)]
    pub fn has_avx2() -> bool {
        width() >= WIDE
    }

    /// Whether to use AVX-512, the *widest* vectors, for which loops over functions of floats are compiled once more.
    #[inline(always)]
    pub fn has_avx512() -> bool {
        width() >= WIDEST
    }

    const NONE: u8 = 1;
    const WIDE: u8 = 2;
    const WIDEST: u8 = 3;

    /// The width that kernels use, or 0 before it is known.
    static WIDTH: AtomicU8 = AtomicU8::new(0);

    #[inline(always)]
    fn width() -> u8 {
        match WIDTH.load(Ordering::Relaxed) {
            0 => find_width(),
            width => width,
        }
    }

    #[cold]
    fn find_width() -> u8 {
        let setting = env::var_os(ENVIRONMENT_VARIABLE).map(|text| most(&text.to_string_lossy()));
        // A user may ask for more than the processor has.
        let width = processor().min(setting.clone().and_then(Result::ok).unwrap_or(WIDEST));
        // The first thread decides for all, since the environment may change between two threads.
        if let Err(before) = WIDTH.compare_exchange(0, width, Ordering::Relaxed, Ordering::Relaxed) {
            return before;
        }
        if let Some(Err(text)) = setting {
            warning::warn(text); // after the width is known, since a listener for warnings may call kernels
        }
        width
    }

    /// The widest vectors that the processor has.
    fn processor() -> u8 {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        match (has_avx2, has_avx512) {
            (true, true) => WIDEST,
            (true, false) => WIDE,
            (false, _) => NONE,
        }
    }

    /// The widest vectors that the setting allows.
    fn most(setting: &str) -> Result<u8, String> {
        match setting {
            "default" => Ok(NONE),
            "avx2" => Ok(WIDE),
            "avx512" => Ok(WIDEST),
            other => Err(format!(
                "{ENVIRONMENT_VARIABLE} is {other:?}, which is ignored; it may be default, avx2 or avx512"
            )),
        }
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use super::*;

        const THIS: &str = "loops::vectors::processor::tests::no_vectors_are_wider_than_the_environment_says";

        #[test]
        fn no_vectors_are_wider_than_the_environment_says() {
            match env::var(ENVIRONMENT_VARIABLE).as_deref() {
                Ok("default") => assert!(!has_avx2() && !has_avx512()),
                Ok("avx2") => assert!(!has_avx512() && has_avx2() == (processor() >= WIDE)),
                Ok(_) => assert_eq!(width(), processor()),
                // The width is found once in a process, so each setting gets a process of its own.
                Err(_) => ["default", "avx2", "avx512"].into_iter().for_each(|setting| drop(run(setting))),
            }
        }

        #[test]
        fn a_capability_that_there_is_not_is_told_of_and_ignored() {
            if env::var_os(ENVIRONMENT_VARIABLE).is_none() {
                let message =
                    "ATEN_CPU_CAPABILITY is \"AVX9\", which is ignored; it may be default, avx2 or avx512";
                let stderr = run("AVX9");
                assert_eq!(stderr.matches(message).count(), 1, "{stderr}");
            }
        }

        /// Runs the first test with a setting, and returns what it wrote to stderr.
        fn run(setting: &str) -> String {
            let mut child = Command::new(env::current_exe().expect("tests are a file"));
            child.args(["--exact", "--nocapture", THIS]).env(ENVIRONMENT_VARIABLE, setting);
            let output = child.output().expect("it can be run again");
            let [stdout, stderr] =
                [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            assert!(stdout.contains("1 passed"), "{setting}: {stdout}{stderr}");
            stderr
        }
    }
}

/// Compiles a function for each vector width, and calls the version for the widest that the processor has.
#[doc(hidden)]
#[macro_export]
macro_rules! on_vectors {
    (
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident $(<$($T:ident: $bound:path),+>)?($($argument:ident: $ty:ty),* $(,)?) $body:block
    ) => {
        $(#[$meta])*
        $visibility fn $name $(<$($T: $bound),+>)?($($argument: $ty),*) {
            #[inline(always)]
            fn on_any $(<$($T: $bound),+>)?($($argument: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn on_wide $(<$($T: $bound),+>)?($($argument: $ty),*) {
                on_any($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn on_widest $(<$($T: $bound),+>)?($($argument: $ty),*) {
                on_any($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            if $crate::loops::has_avx512() {
                // SAFETY: `has_avx512` found the features that it is compiled for.
                return unsafe { on_widest($($argument),*) };
            } else if $crate::loops::has_avx2() {
                // SAFETY: `has_avx2` found the features that it is compiled for.
                return unsafe { on_wide($($argument),*) };
            }
            on_any($($argument),*)
        }
    };
}
pub use crate::on_vectors;
