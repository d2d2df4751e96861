//! Threads, with one rule: the result never depends on how many there are.
//!
//! Loops write disjoint outputs, and sums are taken over blocks whose size depends on nothing. With one thread no thread
//! pool is made and nothing is allocated.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use glam::DVec3;
use rayon::prelude::*;

use crate::error::Error;

/// Items per block of a parallel loop or a sum.
pub const BLOCK: usize = 1024;

/// Loops over fewer items run on one thread: waking the others costs more than they save. It changes no bits.
const PARALLEL_FROM: usize = 4 * BLOCK;

/// Bodies of so many items are advanced one after the other, each on all threads.
const LARGE_BODY: usize = 16 * BLOCK;

/// How long work waits for threads to wake up before it begins without them.
const WAIT_FOR_HELP: Duration = Duration::from_micros(200);

/// How often a thread that is awake looks for work in vain before it offers its core to others.
const MOST_IDLE: u32 = 200;

/// A number of threads and the pool that holds them.
#[derive(Debug, Default)]
pub struct Parallel {
    pool: Option<rayon::ThreadPool>,
    /// Whether each thread has a core of its own.
    spare_cores: bool,
    scratch: Mutex<Vec<DVec3>>,
}

impl Parallel {
    /// `threads` workers; 0 means one per core.
    pub fn new(threads: usize) -> Result<Parallel, Error> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if threads == 0 { cores } else { threads };
        if threads == 1 {
            return Ok(Parallel::default());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::Command(format!("cannot start {threads} threads: {e}")))?;
        Ok(Parallel { pool: Some(pool), spare_cores: threads <= cores, ..Parallel::default() })
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |p| p.current_num_threads())
    }

    /// Whether there is more than one.
    pub fn is_parallel(&self) -> bool {
        self.pool.is_some()
    }

    /// Whether a loop over that many items is shared among threads.
    pub fn shares(&self, items: usize) -> bool {
        self.is_parallel() && items >= PARALLEL_FROM
    }

    /// Whether a body of that many items is shared among threads, rather than advanced beside others, which are `few`.
    pub fn shares_body(&self, items: usize, few: bool) -> bool {
        self.shares(items) && (few || items >= LARGE_BODY)
    }

    /// Runs `work` inside the pool, so that the loops in it start at once.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// The same for many short loops one after the other: the other threads stay awake between them, as waking one takes
    /// longer than such a loop. Where they share cores they would be in the way.
    pub fn run_awake<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = self.pool.as_ref().filter(|_| self.spare_cores) else { return self.run(work) };
        let state = Awake::default();
        pool.scope(|scope| {
            let (state, own) = (&state, rayon::current_thread_index());
            // One that comes too late must not stay: it may be in the midst of a piece of the work, which would then wait for
            // itself. The thread that works has a share in the broadcast, too.
            scope.spawn_broadcast(move |_, context| {
                if Some(context.index()) != own && !state.begun.load(Ordering::Acquire) {
                    state.entered.fetch_add(1, Ordering::AcqRel);
                    state.help();
                }
            });
            let clock = Instant::now();
            while state.entered.load(Ordering::Acquire) + 1 < pool.current_num_threads()
                && clock.elapsed() < WAIT_FOR_HELP
            {
                std::hint::spin_loop();
            }
            state.begun.store(true, Ordering::Release);
            let _lets_sleep = LetsSleep(&state.done);
            work()
        })
    }

    /// Two things at once, if there are two threads.
    pub fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if self.is_parallel() { rayon::join(a, b) } else { (a(), b()) }
    }

    /// Lends a list of that many vectors, of any content, to one loop at a time.
    pub fn with_scratch(&self, length: usize, work: impl FnOnce(&mut [DVec3])) {
        // A panic in another loop leaves nothing in it that matters.
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if scratch.len() < length {
            scratch.resize(length, DVec3::ZERO);
        }
        work(&mut scratch[..length]);
    }

    /// Calls `f(start, block)` for consecutive blocks of `out`.
    pub fn blocks<T: Send>(&self, out: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
        if self.shares(out.len()) {
            out.par_chunks_mut(BLOCK).enumerate().for_each(|(b, chunk)| f(b * BLOCK, chunk));
        } else {
            for (b, chunk) in out.chunks_mut(BLOCK).enumerate() {
                f(b * BLOCK, chunk);
            }
        }
    }

    /// The same for items that cost a hundred times as much as a sum: small blocks, shared from fewer items on.
    pub fn heavy_blocks<T: Send>(&self, out: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
        let small = BLOCK / 8;
        if self.is_parallel() && out.len() >= 4 * small {
            out.par_chunks_mut(small).enumerate().for_each(|(b, chunk)| f(b * small, chunk));
        } else {
            f(0, out);
        }
    }

    /// Calls `f(start, block, block, block)` for consecutive blocks of three lists of the same length.
    pub fn blocks_of_three<T: Send, U: Send, V: Send>(
        &self,
        one: &mut [T],
        two: &mut [U],
        three: &mut [V],
        f: impl Fn(usize, &mut [T], &mut [U], &mut [V]) + Sync,
    ) {
        if self.shares(one.len()) {
            let blocks = one.par_chunks_mut(BLOCK).zip(two.par_chunks_mut(BLOCK));
            let blocks = blocks.zip(three.par_chunks_mut(BLOCK)).enumerate();
            blocks.for_each(|(b, ((one, two), three))| f(b * BLOCK, one, two, three));
        } else {
            f(0, one, two, three);
        }
    }

    /// Calls `f(number, item)` for each of a few large items, which hold `particles` in all.
    pub fn each_of<T: Send>(
        &self,
        particles: usize,
        items: &mut [T],
        f: impl Fn(usize, &mut T) + Sync + Send,
    ) {
        if items.len() > 1 && self.shares(particles) {
            self.run(|| items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item)));
        } else {
            items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
        }
    }

    /// Calls `f` for each item, whatever it costs.
    pub fn each<T: Send>(&self, items: Vec<T>, f: impl Fn(T) + Sync + Send) {
        if self.is_parallel() {
            items.into_par_iter().for_each(f);
        } else {
            items.into_iter().for_each(f);
        }
    }

    /// What `f` makes of each item, in their order. `scratch` makes memory that a thread uses for one item after the other; what is left in it must
    /// not change the next.
    pub fn map<T: Sync, S, R: Send>(
        &self,
        items: &[T],
        scratch: impl Fn() -> S + Sync + Send,
        f: impl Fn(&mut S, &T) -> R + Sync + Send,
    ) -> Vec<R> {
        if self.is_parallel() && items.len() > 1 {
            return self.run(|| items.par_iter().map_init(scratch, f).collect());
        }
        let mut own = scratch();
        items.iter().map(|item| f(&mut own, item)).collect()
    }

    /// Calls `f(start, block)` for consecutive blocks of `items` and adds up what it returns; `partial` is scratch.
    pub fn blocks_sum<T: Send>(
        &self,
        items: &mut [T],
        partial: &mut Vec<f64>,
        f: impl Fn(usize, &mut [T]) -> f64 + Sync,
    ) -> f64 {
        partial.clear();
        partial.resize(items.len().div_ceil(BLOCK), 0.0);
        if self.shares(items.len()) {
            let chunks = items.par_chunks_mut(BLOCK).zip(partial.par_iter_mut()).enumerate();
            chunks.for_each(|(b, (chunk, p))| *p = f(b * BLOCK, chunk));
        } else {
            for (b, (chunk, p)) in items.chunks_mut(BLOCK).zip(partial.iter_mut()).enumerate() {
                *p = f(b * BLOCK, chunk);
            }
        }
        partial.iter().sum()
    }

    /// Sum of `term(i)` for i in 0..n, block by block; `partial` is scratch.
    pub fn sum(&self, n: usize, partial: &mut Vec<f64>, term: impl Fn(usize) -> f64 + Sync) -> f64 {
        partial.clear();
        partial.resize(n.div_ceil(BLOCK), 0.0);
        let block_sum = |b: usize| (b * BLOCK..n.min((b + 1) * BLOCK)).map(&term).fold(0.0, |a, t| a + t);
        if self.shares(n) {
            partial.par_iter_mut().enumerate().for_each(|(b, p)| *p = block_sum(b));
        } else {
            for (b, p) in partial.iter_mut().enumerate() {
                *p = block_sum(b);
            }
        }
        partial.iter().sum()
    }

    /// Inner product of two lists of vectors.
    pub fn dot(&self, a: &[DVec3], b: &[DVec3], partial: &mut Vec<f64>) -> f64 {
        self.sum(a.len().min(b.len()), partial, |i| a[i].dot(b[i]))
    }
}

/// What threads know of each other while one works and the others stay awake.
#[derive(Default)]
struct Awake {
    /// How many others are there.
    entered: AtomicUsize,
    begun: AtomicBool,
    done: AtomicBool,
}

impl Awake {
    /// Takes part in loops of the thread that works, without ever sleeping.
    fn help(&self) {
        let mut idle = 0u32;
        while !self.done.load(Ordering::Acquire) {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => idle = 0,
                // Another program may want this core.
                _ if idle > MOST_IDLE => std::thread::yield_now(),
                _ => {
                    idle += 1;
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// Lets threads sleep again, also if the work panics.
struct LetsSleep<'a>(&'a AtomicBool);

impl Drop for LetsSleep<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_same_bits_for_any_number_of_threads() {
        let a: Vec<DVec3> = (0..40_000).map(|i| DVec3::splat(1.0 / (1.0 + f64::from(i)))).collect();
        let sums: Vec<u64> = [1, 2, 3, 8]
            .iter()
            .map(|&n| Parallel::new(n).unwrap().dot(&a, &a, &mut Vec::new()).to_bits())
            .collect();
        assert!(sums.windows(2).all(|w| w[0] == w[1]), "{sums:?}");
    }

    #[test]
    fn work_that_panics_while_others_are_awake_lets_them_sleep() {
        let parallel = Parallel::new(2).unwrap();
        let panics = std::panic::AssertUnwindSafe(|| parallel.run_awake(|| panic!("on purpose")));
        assert!(std::panic::catch_unwind(panics).is_err());
        for round in 0..2000u32 {
            let mut items = vec![0u32; 4 * BLOCK + 7];
            parallel.run_awake(|| {
                parallel.blocks(&mut items, |start, block| {
                    block.iter_mut().zip(start as u32..).for_each(|(item, i)| *item = i + round);
                });
            });
            assert!(items.iter().zip(round..).all(|(item, i)| *item == i));
        }
    }
}
