//! Where the threads of a process meet, and the process meets others.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};

use crate::barrier::released;
use crate::failure::Failure;
use crate::session::Lap;

/// What a member leaves after an iteration; `Ok(None)` after getting ready.
type Left = Result<Option<Lap>, Failure>;

/// Waiting parks.
pub struct Meeting {
    /// The main thread and all others: before an iteration, and after it.
    gate: Barrier,
    /// All members: after the reset, when ready, and where processes meet again when released.
    line: Barrier,
    /// Whether processes meet, too: over stdout and stdin.
    outside: bool,
    stop: AtomicBool,
    warming: AtomicBool,
    /// One connection is set up at a time: changing the journal mode needs the file alone.
    set_up: Mutex<()>,
    slots: Vec<Mutex<Left>>,
    /// Why the process was not released.
    held: Mutex<Option<Failure>>,
}

impl Meeting {
    /// Of so many members, of whom the main thread is one or, being `apart`, none.
    pub fn new(members: usize, apart: bool, outside: bool) -> Self {
        Meeting {
            gate: Barrier::new(members + usize::from(apart)),
            line: Barrier::new(members + usize::from(apart && outside)),
            outside,
            stop: AtomicBool::new(false),
            warming: AtomicBool::new(false),
            set_up: Mutex::new(()),
            slots: (0..members).map(|_| Mutex::new(Ok(None))).collect(),
            held: Mutex::new(None),
        }
    }

    /// Does something that no other member does meanwhile; `None` when all is over.
    pub fn alone<T>(&self, body: impl FnOnce() -> T) -> Option<T> {
        let _alone = self.set_up.lock().expect("panics abort");
        (!self.is_over()).then(body)
    }

    pub fn gate(&self) {
        self.gate.wait();
    }

    pub fn line(&self) {
        self.line.wait();
    }

    /// Lets all members go at the same time, once they are ready. The main thread asks outside.
    pub fn release(&self, main: bool) {
        self.line.wait();
        if self.outside {
            if main && let Err(failure) = released(io::stdout(), &mut io::stdin().lock()) {
                *self.held.lock().expect("panics abort") = Some(failure);
                self.end();
            }
            self.line.wait();
        }
    }

    /// The main thread's part in [`Meeting::line`] and [`Meeting::release`] where it is apart.
    pub fn conduct(&self) {
        if self.outside {
            self.line.wait();
            self.release(true);
        }
    }

    pub fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Tells whether the next iteration is a warm-up.
    pub fn announce(&self, warming: bool) {
        self.warming.store(warming, Ordering::SeqCst);
    }

    pub fn is_warming(&self) -> bool {
        self.warming.load(Ordering::SeqCst)
    }

    pub fn leave(&self, number: usize, left: Left) {
        *self.slots[number].lock().expect("panics abort") = left;
    }

    /// Takes what the members left; the first member's failure first.
    pub fn gather(&self) -> Result<Vec<Lap>, Failure> {
        if let Some(failure) = self.held.lock().expect("panics abort").take() {
            return Err(failure);
        }
        let take = |slot: &Mutex<Left>| {
            std::mem::replace(&mut *slot.lock().expect("panics abort"), Ok(None))
        };
        let left: Vec<Left> = self.slots.iter().map(take).collect();
        Ok(left.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
