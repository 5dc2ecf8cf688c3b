//! Compiled kernels by their sources: each is made once, while other threads use and make others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use torch_library::prelude::*;

/// The functions that were made of sources.
pub(crate) struct Functions<T> {
    places: Mutex<HashMap<String, Arc<Place<T>>>>,
}

struct Place<T> {
    made: OnceLock<T>,
    /// Held by the thread that makes the function.
    turn: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Copy> Functions<T> {
    pub(crate) fn new() -> Functions<T> {
        Functions { places: Mutex::default() }
    }

    /// The function of a source. If there is none yet, `make` makes it; a thread that wants the same one waits, others
    /// do not.
    ///
    /// # Errors
    /// The errors of `make`, which is called again the next time.
    pub(crate) fn of(&self, source: &str, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let place = {
            let mut places = lock(&self.places);
            match places.get(source) {
                Some(place) => match place.made.get() {
                    Some(function) => return Ok(*function),
                    None => place.clone(),
                },
                None => {
                    let place = Arc::new(Place { made: OnceLock::new(), turn: Mutex::default() });
                    places.insert(source.to_owned(), place.clone());
                    place
                }
            }
        };
        let _turn = lock(&place.turn);
        match place.made.get() {
            Some(function) => Ok(*function),
            None => make().map(|function| *place.made.get_or_init(|| function)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_does_not_wait_for_what_another_makes() {
        let functions = Functions::new();
        assert_eq!(functions.of("known", || Ok(0)).unwrap(), 0);
        let (others, made) = channel();
        std::thread::scope(|scope| {
            let slow = functions.of("slow", || {
                scope.spawn(|| {
                    let known = functions.of("known", || Ok(1));
                    others.send([known.unwrap(), functions.of("other", || Ok(2)).unwrap()])
                });
                Ok(made.recv_timeout(Duration::from_secs(60)).map_or(-1, |made| made[0] + made[1]))
            });
            assert_eq!(slow.unwrap(), 2, "the thread waited");
        });
    }

    #[test]
    fn each_is_made_once_unless_that_fails() {
        let functions = Functions::new();
        assert!(functions.of("source", || bail!(Internal, "refused")).is_err());
        assert_eq!(functions.of("source", || Ok(1)).unwrap(), 1);
        let calls: Vec<i32> = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| functions.of("another", || Ok(2)).unwrap()));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        assert_eq!((calls, functions.of("another", || Ok(3)).unwrap()), (vec![2; 4], 2));
    }
}
