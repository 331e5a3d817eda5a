//! Measuring with k threads, a connection each, in step with one another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use crate::access::Access;
use crate::checksum::Checksum;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::inspect;
use crate::job::{Database, Job};
use crate::measure::{nanoseconds, phase};
use crate::process;
use crate::result::{Counts, Cpu, Phases, Work, Worker};
use crate::series::{Lap, Series};
use crate::session::{Pass, Session, share};

/// Where threads wait for each other; waiting parks.
struct Rendezvous {
    /// Main thread and workers: before an iteration, and after it.
    gate: Barrier,
    /// Workers only: after the reset, and at the start of the clock.
    line: Barrier,
    stop: AtomicBool,
    /// One connection is set up at a time: changing the journal mode needs the file alone.
    set_up: Mutex<()>,
    /// Each worker's last pass; `Ok(None)` after getting ready.
    slots: Vec<Mutex<Result<Option<Pass>, Failure>>>,
}

/// Warm-up and measured iterations over all workers.
pub fn measure<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let access = Access::new(job, database, true);
    let workers = job.measure.workers as usize;
    let rendezvous = Rendezvous {
        gate: Barrier::new(workers + 1),
        line: Barrier::new(workers),
        stop: AtomicBool::new(false),
        set_up: Mutex::new(()),
        slots: (0..workers).map(|_| Mutex::new(Ok(None))).collect(),
    };
    thread::scope(|scope| {
        let (access, rendezvous) = (&access, &rendezvous);
        let threads: Vec<_> = (0..workers)
            .map(|number| scope.spawn(move || work::<D>(job, access, rendezvous, number)))
            .collect();
        let outcome = coordinate(job, rendezvous);
        rendezvous.stop.store(true, Ordering::SeqCst);
        rendezvous.gate.wait();
        let mut ended = threads.into_iter().map(|thread| thread.join().expect("panics abort"));
        let first = ended.next().expect("there are at least two workers");
        let others = ended.collect::<Result<Vec<_>, _>>();
        // A worker's own error says more than that an iteration could not be completed.
        let mut work = outcome?;
        let inspected = first?;
        others?;
        work.readback = inspected.readback;
        work.effective = inspected.effective;
        work.plans = inspected.plans;
        work.phases_ns = inspected.phases_ns;
        Ok(work)
    })
}

/// The main thread's part: says when, gathers, and decides whether to go on.
fn coordinate(job: &Job, rendezvous: &Rendezvous) -> Result<Work, Failure> {
    let plan = &job.measure;
    let mut series = Series::new(plan);
    let mut workers: Vec<Worker> = (0..plan.workers)
        .map(|number| {
            let operations = share(plan.operations_per_iteration, number, plan.workers);
            let operations = operations.end - operations.start;
            Worker { operations, rows: 0, checksum: 0, iterations_ns: Vec::new() }
        })
        .collect();
    rendezvous.gate.wait();
    rendezvous.gather()?;
    while !series.done() {
        rendezvous.gate.wait();
        rendezvous.gate.wait();
        let passes = rendezvous.gather()?;
        if !series.warming() {
            for (worker, pass) in workers.iter_mut().zip(&passes) {
                worker.rows = pass.counts.rows;
                worker.checksum = pass.counts.checksum;
                worker.iterations_ns.push(nanoseconds(pass.end - pass.start));
            }
        }
        series.record(combine(&passes))?;
    }
    Ok(Work {
        counts: series.counts.unwrap_or_default(),
        warmup_ns: series.warmup_ns,
        iterations_ns: series.iterations_ns,
        cpu_ns: series.cpu.filter(|_| process::CPU_IS_PER_THREAD),
        workers,
        ..Work::default()
    })
}

/// An iteration lasts from the earliest start to the latest end.
fn combine(passes: &[Pass]) -> Lap {
    let mut counts = Counts::default();
    let mut cpu = Some(Cpu::default());
    for pass in passes {
        counts.add(&pass.counts);
        cpu = cpu
            .zip(pass.cpu)
            .map(|(sum, one)| Cpu { user: sum.user + one.user, system: sum.system + one.system });
    }
    let start = passes.iter().map(|pass| pass.start).min();
    let end = passes.iter().map(|pass| pass.end).max();
    let elapsed = end.zip(start).map(|(end, start)| end - start);
    Lap { nanoseconds: nanoseconds(elapsed.unwrap_or_default()), counts, cpu }
}

impl Rendezvous {
    /// Takes what the workers left; the first worker's failure first.
    fn gather(&self) -> Result<Vec<Pass>, Failure> {
        let left: Vec<_> = self.slots.iter().map(take).collect();
        Ok(left.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

fn take(slot: &Mutex<Result<Option<Pass>, Failure>>) -> Result<Option<Pass>, Failure> {
    std::mem::replace(&mut slot.lock().expect("panics abort"), Ok(None))
}

/// A worker's life. Whatever fails is left in its slot: it still comes to every meeting.
fn work<D: Driver>(
    job: &Job,
    access: &Access,
    rendezvous: &Rendezvous,
    number: usize,
) -> Result<Work, Failure> {
    let leave = |outcome| *rendezvous.slots[number].lock().expect("panics abort") = outcome;
    let absent = |failure| {
        leave(Err(failure));
        rendezvous.gate.wait();
        rendezvous.gate.wait();
        Ok(Work::default())
    };
    let alone = rendezvous.set_up.lock().expect("panics abort");
    let opened = phase(|| D::open(access));
    drop(alone);
    let (connection, open) = match opened {
        Ok(opened) => opened,
        Err(failure) => return absent(failure),
    };
    let prepare = || Session::<D, Checksum>::prepare(&connection, job, access);
    let (mut session, prepare) = match phase(prepare) {
        Ok(prepared) => prepared,
        Err(failure) => return absent(failure),
    };
    let plan = &job.measure;
    let operations = share(plan.operations_per_iteration, number as u64, plan.workers);
    let mut sink = Checksum::default();
    rendezvous.gate.wait();
    loop {
        rendezvous.gate.wait();
        if rendezvous.stop.load(Ordering::SeqCst) {
            break;
        }
        // One reset serves all workers.
        let ready = if number == 0 { session.reset() } else { Ok(()) };
        rendezvous.line.wait();
        let ready = ready.and_then(|()| session.begin());
        rendezvous.line.wait();
        let pass = ready.and_then(|()| session.timed(operations.clone(), &mut sink));
        leave(pass.and_then(|pass| session.commit().map(|()| Some(pass))));
        rendezvous.gate.wait();
    }
    drop(session);
    let mut work = Work::default();
    if number == 0 {
        inspect::finish::<D, Checksum>(&connection, job, access, &mut sink, &mut work)?;
    }
    let ((), close) = phase(|| D::close(connection))?;
    work.phases_ns =
        Phases { load: None, open: Some(open), prepare: Some(prepare), close: Some(close) };
    Ok(work)
}
