//! Which vectors the processor has, and functions that are compiled for each width of them.

#[cfg(target_arch = "x86_64")]
pub(crate) use processor::{is_wide, is_widest};

/// Which vectors the processor has. It is found once: asking for six features takes as long as adding some dozen numbers.
#[cfg(target_arch = "x86_64")]
mod processor {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Whether the processor has the vectors for which all loops are compiled.
    #[inline(always)]
    pub(crate) fn is_wide() -> bool {
        found() >= WIDE
    }

    /// Whether the processor has the widest vectors, for which loops over functions of floats are compiled once more.
    #[inline(always)]
    pub(crate) fn is_widest() -> bool {
        found() >= WIDEST
    }

    const NONE: u8 = 1;
    const WIDE: u8 = 2;
    const WIDEST: u8 = 3;

    /// Zero until it is found.
    static FOUND: AtomicU8 = AtomicU8::new(0);

    #[inline(always)]
    fn found() -> u8 {
        match FOUND.load(Ordering::Relaxed) {
            0 => find(),
            found => found,
        }
    }

    #[cold]
    fn find() -> u8 {
        let is_wide = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let is_widest = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        let found = match (is_wide, is_widest) {
            (true, true) => WIDEST,
            (true, false) => WIDE,
            (false, _) => NONE,
        };
        FOUND.store(found, Ordering::Relaxed); // every thread finds the same
        found
    }
}

/// A function that is compiled for each width of vectors, of which the widest that the processor has is called.
macro_rules! on_vectors {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident<$($T:ident: $bound:path),+>($($argument:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $visibility fn $name<$($T: $bound),+>($($argument: $ty),*) {
            #[inline(always)]
            fn on_any<$($T: $bound),+>($($argument: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn on_wide<$($T: $bound),+>($($argument: $ty),*) {
                on_any($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn on_widest<$($T: $bound),+>($($argument: $ty),*) {
                on_any($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            if crate::cpu::loops::is_widest() {
                // SAFETY: the processor has these features.
                return unsafe { on_widest($($argument),*) };
            } else if crate::cpu::loops::is_wide() {
                // SAFETY: as above.
                return unsafe { on_wide($($argument),*) };
            }
            on_any($($argument),*)
        }
    };
}
pub(crate) use on_vectors;
