//! Measuring: warm-up and measured iterations over all members, and what they come to.

use std::ops::Add;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::access::Access;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::iterations::{Iteration, Iterations};
use crate::job::{Database, Home, Job};
use crate::meeting::Meeting;
use crate::member::{Ended, Member, Place};
use crate::parts::Part;
use crate::phase::nanoseconds;
use crate::process::{EVENTS_ARE_COUNTED, used};
use crate::result::{Counts, PageCache, Role, Work, Worker};
use crate::session::Lap;

/// A lone worker is the main thread unless the job says otherwise; each of several workers has a
/// thread of its own, and so has the writer.
pub fn measure<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let parts = Part::all(job);
    let apart = job.measure.workers > 1 || job.measure.thread == Home::Worker;
    let meeting = Meeting::new(parts.len(), apart, job.waits());
    let access = Access::new(job, database);
    let place = |(number, part)| Place { job, access: &access, meeting: &meeting, part, number };
    let places: Vec<Place> = parts.iter().enumerate().map(place).collect();
    let (own, others) = places.split_at(usize::from(!apart));
    let (mut work, ended) = thread::scope(|scope| {
        let start = || start::<D>(scope, others).inspect_err(|_| meeting.end());
        let threads = meeting.alone(start).expect("nothing has ended yet")?;
        let outcome = match own.first() {
            Some(place) => place
                .live(|member| coordinate::<D>(job, &parts, &meeting, Some(member)))
                .map(|(work, ended)| (work, Some(ended))),
            None => coordinate::<D>(job, &parts, &meeting, None).map(|work| (work, None)),
        };
        let join = |thread: ScopedJoinHandle<_>| thread.join().expect("panics abort");
        let others: Vec<Result<Ended, Failure>> = threads.into_iter().map(join).collect();
        // What stopped the iterations says more than how a thread ended then.
        let (work, own) = outcome?;
        let others = others.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Failure>((work, own.into_iter().chain(others).collect::<Vec<_>>()))
    })?;
    finish(job, &mut work, ended);
    Ok(work)
}

/// Starts a thread for each of these places.
fn start<'s, 'e, D: Driver>(
    scope: &'s Scope<'s, 'e>,
    places: &'e [Place<'e>],
) -> Result<Vec<ScopedJoinHandle<'s, Result<Ended, Failure>>>, Failure> {
    let mut threads = Vec::new();
    for place in places {
        let started = Builder::new().spawn_scoped(scope, || place.serve::<D>());
        threads.push(started.map_err(|error| {
            let (number, all) = (threads.len(), places.len());
            let told = format!("only {number} of {all} threads could be started: {error}");
            Failure::new(format!("{told}; ask for fewer workers"))
        })?);
    }
    Ok(threads)
}

/// The main thread's part: says when, takes part where it is a worker, and ends it for all.
fn coordinate<D: Driver>(
    job: &Job,
    parts: &[Part],
    meeting: &Meeting,
    own: Option<Result<&mut Member<'_, D>, Failure>>,
) -> Result<Work, Failure> {
    meeting.gate();
    let ready = own.transpose().and_then(|own| meeting.gather().map(|_| own));
    let outcome = ready.and_then(|own| iterate(job, parts, meeting, own));
    meeting.end();
    meeting.gate();
    outcome
}

fn iterate<D: Driver>(
    job: &Job,
    parts: &[Part],
    meeting: &Meeting,
    mut own: Option<&mut Member<'_, D>>,
) -> Result<Work, Failure> {
    let mut iterations = Iterations::new(&job.measure);
    let mut workers: Vec<Worker> = parts.iter().map(|part| Worker::of(part)).collect();
    while !iterations.done() {
        meeting.announce(iterations.warming());
        meeting.gate();
        match &mut own {
            Some(member) => meeting.leave(0, member.iteration(true)),
            None => meeting.conduct(),
        }
        meeting.gate();
        let laps = meeting.gather()?;
        for ((worker, part), lap) in workers.iter_mut().zip(parts).zip(&laps) {
            worker.add(part.performed(iterations.answers.len() as u64), lap);
            if !iterations.warming() {
                worker.time(lap, job.waits());
            }
        }
        iterations.record(combine(parts, &laps));
    }
    let each = job.measure.operations();
    let operations = (each.end - each.start) * iterations.answers.len() as u64;
    let usage = iterations.usage;
    let events = usage.filter(|_| EVENTS_ARE_COUNTED);
    Ok(Work {
        warmup_ns: iterations.warmup_ns,
        iterations_ns: iterations.iterations_ns,
        cpu_ns: usage.map(|usage| usage.cpu_ns),
        switches: events.map(|usage| usage.switches),
        page_faults: events.map(|usage| usage.page_faults),
        allocated_bytes: Some(iterations.allocated),
        collections: Some(0), // there is no collector
        page_cache: Some(iterations.page_cache),
        workers,
        ..Work::of(operations, &iterations.answers)
    })
}

/// An iteration lasts from the earliest start to the latest end; the counts are the workers'.
fn combine(parts: &[Part], laps: &[Lap]) -> Iteration {
    let mut counts = Counts::default();
    for (part, lap) in parts.iter().zip(laps) {
        if part.role == Role::Worker {
            counts.add(&lap.counts);
        }
    }
    let looks: Option<Vec<_>> = laps.iter().map(|lap| lap.usage).collect();
    let start = laps.iter().map(|lap| lap.start).min();
    let end = laps.iter().map(|lap| lap.end).max();
    let elapsed = end.zip(start).map(|(end, start)| end - start);
    Iteration {
        nanoseconds: nanoseconds(elapsed.unwrap_or_default()),
        counts,
        usage: looks.map(|looks| used(&looks)),
        allocated: laps.iter().map(|lap| lap.allocated).sum(),
        page_cache: laps
            .iter()
            .map(|lap| lap.page_cache)
            .fold(PageCache::default(), PageCache::add),
    }
}

/// Adds what the members had at their ends, and leaves the workers out where none is asked for.
fn finish(job: &Job, work: &mut Work, ended: Vec<Ended>) {
    let mut ended = ended.into_iter();
    let mut workers = work.workers.iter_mut();
    if let (Some(first), Some(worker)) = (ended.next(), workers.next()) {
        work.readback = first.work.readback;
        work.digest = first.work.digest;
        work.effective = first.work.effective;
        work.plans = first.work.plans;
        work.phases_ns = first.work.phases_ns;
        (worker.latencies, worker.pacing) = first.recording.into_histograms();
    }
    for (worker, ended) in workers.zip(ended) {
        (worker.latencies, worker.pacing) = ended.recording.into_histograms();
    }
    let plan = &job.measure;
    let plain = plan.workers == 1 && !plan.latencies && !plan.paced() && plan.share.is_none();
    if plain && job.writer.is_none() {
        work.workers.clear();
    }
}

impl Worker {
    fn of(part: &Part) -> Self {
        Worker {
            role: part.role,
            operations: 0,
            rows: 0,
            checksum: 0,
            iterations_ns: Vec::new(),
            spans_us: Vec::new(),
            latencies: None,
            pacing: None,
            busy: 0,
        }
    }

    /// Adds what an iteration did.
    fn add(&mut self, operations: u64, lap: &Lap) {
        self.operations += operations;
        self.rows += lap.counts.rows;
        self.checksum = self.checksum.wrapping_add(lap.counts.checksum);
    }

    /// Adds the times of a measured iteration.
    fn time(&mut self, lap: &Lap, span: bool) {
        self.iterations_ns.push(nanoseconds(lap.elapsed()));
        self.spans_us.extend(span.then(|| lap.span_us()));
        self.busy += lap.busy;
    }
}
