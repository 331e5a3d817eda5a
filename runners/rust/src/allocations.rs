//! Counts what each thread allocates of Rust's own heap, which SQLite does not use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Constant and without a destructor, so that counting is an addition and never allocates.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Bytes that the calling thread has allocated so far.
pub fn allocated() -> u64 {
    ALLOCATED.get()
}

fn count(bytes: usize) {
    ALLOCATED.set(ALLOCATED.get().wrapping_add(bytes as u64));
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: each call is passed on as it is to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps what `alloc_zeroed` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, held: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: the caller keeps what `realloc` asks for.
        unsafe { System.realloc(held, layout, size) }
    }

    unsafe fn dealloc(&self, held: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps what `dealloc` asks for.
        unsafe { System.dealloc(held, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_thread_allocates_is_counted_and_growth_once() {
        let before = allocated();
        let mut bytes = std::hint::black_box(vec![1u8; 1000]);
        assert_eq!(allocated() - before, 1000);
        bytes.reserve_exact(500);
        assert_eq!(allocated() - before, 1500);
        std::thread::spawn(|| std::hint::black_box(vec![1u8; 1 << 20])).join().unwrap();
        assert!(allocated() - before < 1 << 20);
    }
}
