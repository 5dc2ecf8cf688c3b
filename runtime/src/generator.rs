//! Random number generators: shared, seedable streams of bits.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::turn::Turn;

/// A handle to a stream of random numbers; clones share the stream.
///
/// The CPU stream is PyTorch's Mersenne Twister: the same seed gives the same bits.
///
/// ```
/// use torch_library::Generator;
///
/// let generator = Generator::with_seed(0);
/// assert_eq!(generator.random(), 2357136044);
/// generator.manual_seed(0);
/// assert_eq!(generator.random(), 2357136044);
/// ```
///
/// PyTorch: `at::Generator`, `torch.Generator`.
#[derive(Clone)]
pub struct Generator(Arc<Inner>);

/// A stream, as seen from one device.
struct Inner {
    key_set: DispatchKeySet,
    device: Device,
    shared: Arc<Shared>,
}

struct Shared {
    /// The right to draw. Its holder may take it again, since the code that it runs may draw, too.
    turn: Turn,
    /// Locked only briefly, never while user code runs.
    stream: Mutex<Stream>,
}

/// The twister and its seed.
struct Stream {
    seed: u64,
    /// How often the stream was restarted.
    starts: u64,
    state: [u32; N],
    next: usize,
    /// How many states there were before this one since the stream was started.
    states: u64,
    spare: Option<f64>,
    /// The first counter that no kernel has taken.
    counter: u64,
}

/// The number of words of state, and the distance to the word that each new one is mixed with.
const N: usize = 624;
const M: usize = 397;

impl Generator {
    /// The seed of a generator that was not seeded.
    ///
    /// PyTorch: `c10::detail::default_rng_seed_val`.
    pub const DEFAULT_SEED: u64 = 67_280_421_310_721;

    /// A CPU generator with a seed, whose lower 32 bits are used.
    pub fn with_seed(seed: u64) -> Generator {
        Generator::for_backend(Device::CPU, DispatchKeySet::from_key(DispatchKey::CPU), seed)
    }

    /// A generator for another device, which brings its own keys to a call.
    pub fn for_backend(device: Device, key_set: DispatchKeySet, seed: u64) -> Generator {
        let stream = Mutex::new(Stream::new(seed));
        let shared = Arc::new(Shared { turn: Turn::default(), stream });
        Generator(Arc::new(Inner { key_set, device, shared }))
    }

    /// The same stream as a CPU generator, which a backend without random kernels passes to those of the CPU.
    ///
    /// ```
    /// use torch_library::{DeviceType, DispatchKey, DispatchKeySet, Generator};
    ///
    /// let keys = DispatchKeySet::from_key(DispatchKey::PrivateUse1);
    /// let generator = Generator::for_backend(DeviceType::PrivateUse1.into(), keys, 0);
    /// assert_eq!(generator.on_cpu().random(), 2357136044);
    /// assert_eq!(generator.random(), 2546248239, "the next of the same stream");
    /// ```
    #[must_use]
    pub fn on_cpu(&self) -> Generator {
        let key_set = DispatchKeySet::from_key(DispatchKey::CPU);
        Generator(Arc::new(Inner { key_set, device: Device::CPU, shared: self.0.shared.clone() }))
    }

    /// The keys that it brings to a call.
    #[inline]
    pub fn key_set(&self) -> DispatchKeySet {
        self.0.key_set
    }

    /// The device that the random numbers are for.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Restarts the stream from a seed.
    ///
    /// PyTorch: `torch.Generator.manual_seed`.
    pub fn manual_seed(&self, seed: u64) {
        let _turn = self.0.shared.turn.take();
        let mut stream = self.stream();
        *stream = Stream { starts: stream.starts + 1, ..Stream::new(seed) };
    }

    /// The present seed.
    ///
    /// PyTorch: `torch.Generator.initial_seed`.
    pub fn initial_seed(&self) -> u64 {
        self.stream().seed
    }

    /// The next 32 bits.
    ///
    /// PyTorch: `CPUGeneratorImpl::random`.
    pub fn random(&self) -> u32 {
        let _turn = self.0.shared.turn.take();
        self.stream().next()
    }

    /// The next 64 bits: the first 32 that are drawn are the upper half.
    ///
    /// PyTorch: `CPUGeneratorImpl::random64`.
    pub fn random64(&self) -> u64 {
        let _turn = self.0.shared.turn.take();
        self.stream().next64()
    }

    /// Draws many numbers under one lock: `fill` gets a source that fills a slice with the next 32-bit words.
    ///
    /// A tensor filled this way gets one uninterrupted piece of the stream: other threads that draw have to wait. If
    /// `fill` itself draws from this generator by other methods, the numbers come from the same piece. If it draws from
    /// another generator, it does not wait, even if another thread is in the middle of drawing from that one: otherwise
    /// two threads could wait for each other for ever.
    ///
    /// ```
    /// use torch_library::Generator;
    ///
    /// let (mut words, generator) = ([0; 2], Generator::with_seed(0));
    /// generator.with(|next| next(&mut words));
    /// assert_eq!(words, [2357136044, 2546248239]);
    /// ```
    pub fn with<R>(&self, fill: impl FnOnce(&mut dyn FnMut(&mut [u32])) -> R) -> R {
        let _turn = self.0.shared.turn.take();
        fill(&mut |words| self.stream().fill(words))
    }

    /// Like [`with`](Self::with), and also gives access to the spare normal number.
    ///
    /// Normal numbers are made in pairs. PyTorch keeps the second one of a pair with the stream, until the stream is
    /// restarted.
    ///
    /// PyTorch: `CPUGeneratorImpl::next_double_normal_sample`.
    pub fn with_spare<R>(&self, fill: impl FnOnce(&mut dyn FnMut(&mut [u32]), &mut Option<f64>) -> R) -> R {
        let _turn = self.0.shared.turn.take();
        self.sparing(|spare| fill(&mut |words| self.stream().fill(words), spare))
    }

    /// Like [`with_spare`](Self::with_spare), for numbers that take a few words each, some of them more than others:
    /// `draw` gets a source of single words, which reads ahead, so that most words take no lock. What it has read in
    /// vain is drawn next.
    ///
    /// `draw` should not draw from this generator by other methods: it would get words that come later, and what was
    /// read ahead would be lost.
    ///
    /// ```
    /// use torch_library::Generator;
    ///
    /// let generator = Generator::with_seed(0);
    /// assert_eq!(generator.with_words(|words, _| [words.word(), words.word()]), [2357136044, 2546248239]);
    /// assert_eq!(generator.random(), 3071714933);
    /// ```
    pub fn with_words<R>(&self, draw: impl FnOnce(&mut Words<'_>, &mut Option<f64>) -> R) -> R {
        let _turn = self.0.shared.turn.take();
        let mut words =
            Words { generator: self, ahead: [0; AHEAD], next: 0, end: 0, place: Place::default() };
        self.sparing(|spare| draw(&mut words, spare))
    }

    /// Runs a closure with the spare normal number, and keeps what it leaves, unless the stream is restarted meanwhile.
    fn sparing<R>(&self, draw: impl FnOnce(&mut Option<f64>) -> R) -> R {
        let (mut spare, starts) = {
            let mut stream = self.stream();
            (stream.spare.take(), stream.starts)
        };
        let drawn = draw(&mut spare);
        let mut stream = self.stream();
        if stream.starts == starts {
            stream.spare = spare;
        }
        drawn
    }

    /// Reserves `count` counters for a kernel whose numbers are functions of a seed and a counter, such as Philox, and
    /// returns the seed and the first counter. Counters start from 0 when the stream is restarted; other ways of
    /// drawing use none. The count is rounded up to a multiple of four, since Philox makes four numbers from one
    /// counter.
    ///
    /// ```
    /// use torch_library::Generator;
    ///
    /// let generator = Generator::with_seed(7);
    /// assert_eq!(generator.take_counters(4), (7, 0));
    /// assert_eq!(generator.take_counters(5), (7, 4));
    /// assert_eq!(generator.take_counters(4), (7, 12));
    /// generator.manual_seed(8);
    /// assert_eq!(generator.take_counters(4), (8, 0));
    /// ```
    ///
    /// PyTorch: `at::CUDAGeneratorImpl::philox_engine_inputs`.
    pub fn take_counters(&self, count: u64) -> (u64, u64) {
        let _turn = self.0.shared.turn.take();
        let mut stream = self.stream();
        let first = stream.counter;
        stream.counter = first.wrapping_add(count).wrapping_add(count.wrapping_neg() % 4);
        (stream.seed, first)
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        // No user code runs under the lock, and our own code does not panic there.
        self.0.shared.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of words that are read at a time.
const AHEAD: usize = 64;

/// A source of the next words of a stream, which reads ahead: [`Generator::with_words`].
pub struct Words<'a> {
    generator: &'a Generator,
    ahead: [u32; AHEAD],
    /// The first of these words that was not drawn, and the end of those that were read.
    next: usize,
    end: usize,
    /// The place of the stream after them.
    place: Place,
}

/// A place in a stream.
#[derive(Default, PartialEq)]
struct Place {
    starts: u64,
    states: u64,
    next: usize,
}

impl Words<'_> {
    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u32 {
        if self.next == self.end {
            self.read();
        }
        self.next += 1;
        self.ahead[self.next - 1]
    }

    #[cold]
    fn read(&mut self) {
        let mut stream = self.generator.stream();
        self.end = stream.read_ahead(&mut self.ahead);
        (self.next, self.place) = (0, stream.place());
    }
}

impl Drop for Words<'_> {
    /// Gives back what was not drawn, unless others have drawn since it was read.
    fn drop(&mut self) {
        let mut stream = self.generator.stream();
        if stream.place() == self.place {
            stream.next -= self.end - self.next;
        }
    }
}

impl Default for Generator {
    fn default() -> Generator {
        Generator::with_seed(Generator::DEFAULT_SEED)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("device", &self.0.device).finish_non_exhaustive()
    }
}

impl Stream {
    fn new(seed: u64) -> Stream {
        let mut state = [0; N];
        state[0] = seed as u32;
        for i in 1..N {
            let previous: u32 = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(previous ^ (previous >> 30)).wrapping_add(i as u32);
        }
        Stream { seed, starts: 0, state, next: N, states: 0, spare: None, counter: 0 }
    }

    fn next(&mut self) -> u32 {
        let mut word = [0];
        self.fill(&mut word);
        word[0]
    }

    /// Writes the next words, one state of the twister after another.
    fn fill(&mut self, mut words: &mut [u32]) {
        while !words.is_empty() {
            if self.next == N {
                self.twist();
            }
            let count = words.len().min(N - self.next);
            let (now, later) = words.split_at_mut(count);
            for (word, state) in now.iter_mut().zip(&self.state[self.next..]) {
                *word = tempered(*state);
            }
            self.next += count;
            words = later;
        }
    }

    fn next64(&mut self) -> u64 {
        let upper = u64::from(self.next());
        (upper << 32) | u64::from(self.next())
    }

    /// Computes the next 624 words of state. The ranges are chosen so that no index wraps around within one.
    fn twist(&mut self) {
        let state = &mut self.state;
        for i in 0..N - M {
            state[i] = state[i + M] ^ mixed(state[i], state[i + 1]);
        }
        for i in N - M..N - 1 {
            state[i] = state[i + M - N] ^ mixed(state[i], state[i + 1]);
        }
        state[N - 1] = state[M - 1] ^ mixed(state[N - 1], state[0]);
        self.next = 0;
        self.states += 1;
    }

    fn place(&self) -> Place {
        Place { starts: self.starts, states: self.states, next: self.next }
    }

    /// Writes the next words of the present state, at least one, and returns their number.
    fn read_ahead(&mut self, words: &mut [u32]) -> usize {
        let left = if self.next == N { N } else { N - self.next };
        let count = words.len().min(left);
        self.fill(&mut words[..count]);
        count
    }
}

/// The upper bit of one word and the lower bits of the next, shifted by one.
#[inline(always)]
fn mixed(word: u32, next: u32) -> u32 {
    let mixed = (word & 0x8000_0000) | (next & 0x7fff_ffff);
    (mixed >> 1) ^ ((mixed & 1) * 0x9908_b0df)
}

/// The tempered output for a word of the state.
#[inline(always)]
fn tempered(mut word: u32) -> u32 {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c_5680;
    word ^= (word << 15) & 0xefc6_0000;
    word ^ (word >> 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_mersenne_twister() {
        let generator = Generator::with_seed(5489);
        (1..10_000).for_each(|_| _ = generator.random());
        assert_eq!(
            generator.random(),
            4_123_659_995,
            "the 10 000th, which the C++ standard demands of mt19937"
        );
    }

    #[test]
    fn who_draws_may_draw_more_and_start_over() {
        let generator = Generator::with_seed(0);
        let (first, second, again) = generator.with(|next| {
            let mut words = [0];
            next(&mut words);
            let second = generator.random();
            generator.manual_seed(0);
            (words[0], second, generator.clone().with(|_| generator.random()))
        });
        assert_eq!((first, second, again), (2_357_136_044, 2_546_248_239, 2_357_136_044));
        let end = std::panic::catch_unwind(|| generator.with(|_| panic!("in the middle")));
        assert!(end.is_err());
        let other = generator.clone();
        std::thread::spawn(move || other.manual_seed(0)).join().expect("it gets its turn");
        assert_eq!(generator.random(), first);
    }

    #[test]
    fn counters_begin_again_after_the_last() {
        let generator = Generator::with_seed(0);
        let takes = [1, u64::MAX, 4, u64::MAX - 3].map(|count| generator.take_counters(count).1);
        assert_eq!((takes, generator.take_counters(0).1), ([0, 4, 4, 8], 4));
    }

    #[test]
    fn a_spare_number_is_of_the_stream_that_made_it() {
        let generator = Generator::with_seed(0);
        generator.with_spare(|_, spare| *spare = Some(0.5));
        generator.with_spare(|_, spare| {
            assert_eq!(*spare, Some(0.5));
            generator.manual_seed(1);
        });
        generator.with_spare(|_, spare| assert_eq!(*spare, None));
    }

    #[test]
    fn words_that_were_read_ahead_in_vain_are_drawn_next() {
        let [ahead, plain] = [(); 2].map(|()| Generator::with_seed(5));
        for count in [1, 63, 64, 65, 0, 7, 200, 561, 1, 623, 624, 625, 1300, 2] {
            let found: Vec<u32> = ahead.with_words(|words, _| (0..count).map(|_| words.word()).collect());
            let want: Vec<u32> = (0..count).map(|_| plain.random()).collect();
            assert_eq!(found, want, "{count}");
        }
        assert_eq!(ahead.random(), plain.random());
        ahead.with_words(|words, spare| {
            (_, *spare) = (words.word(), Some(0.5));
            ahead.manual_seed(6);
        });
        ahead.with_words(|_, spare| assert_eq!(*spare, None, "it was of the stream before"));
        plain.manual_seed(6);
        assert_eq!(ahead.random(), plain.random(), "nothing is given back to another stream");
    }

    #[test]
    fn counters_are_taken_once_and_start_over_with_the_stream() {
        let generator = Generator::with_seed(1 << 40);
        let first = generator.random();
        assert_eq!(generator.on_cpu().take_counters(4), (1 << 40, 0));
        assert_eq!(generator.clone().take_counters(4), (1 << 40, 4));
        generator.manual_seed(2);
        assert_eq!(generator.take_counters(1), (2, 0));
        assert_eq!(generator.take_counters(0), (2, 4));
        generator.manual_seed(1 << 40);
        generator.take_counters(99);
        assert_eq!(generator.random(), first, "the words are no counters");
    }

    #[test]
    fn clones_share_the_stream_and_seeds_restart_it() {
        let generator = Generator::default();
        let clone = generator.clone();
        let first = generator.random64();
        assert_ne!(clone.random64(), first);
        clone.manual_seed(Generator::DEFAULT_SEED);
        assert_eq!(generator.random64(), first);
        assert_eq!(generator.initial_seed(), Generator::DEFAULT_SEED);
    }
}
