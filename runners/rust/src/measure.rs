//! Measuring: warm-up and measured iterations over all members, and what they come to.

use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::access::Access;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::job::{Database, Job};
use crate::meeting::Meeting;
use crate::member::{Ended, Member, Place};
use crate::phase::nanoseconds;
use crate::process::{SWITCHES_ARE_COUNTED, USAGE_IS_PER_THREAD, Usage};
use crate::result::{Counts, Role, Work, Worker};
use crate::series::{Lap, Series};
use crate::session::Pass;
use crate::task::Task;

/// A lone worker is the main thread; each of several workers has a thread of its own, and so has
/// the writer.
pub fn measure<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let tasks = Task::all(job);
    let apart = job.measure.workers > 1;
    let meeting = Meeting::new(tasks.len(), apart, job.measure.barrier);
    let plain = Access::new(job, database, false);
    let one_of_many = Access::new(job, database, true);
    let place = |number: usize| {
        let task = &tasks[number];
        let access = if apart && task.role == Role::Worker { &one_of_many } else { &plain };
        Place { job, access, meeting: &meeting, task, number }
    };
    let places: Vec<Place> = (0..tasks.len()).map(place).collect();
    let (own, others) = places.split_at(usize::from(!apart));
    let (mut work, ended) = thread::scope(|scope| {
        let start = || start::<D>(scope, others).inspect_err(|_| meeting.end());
        let threads = meeting.alone(start).expect("nothing has ended yet")?;
        let outcome = match own.first() {
            Some(place) => place
                .live(|member| coordinate::<D>(job, &tasks, &meeting, Some(member)))
                .map(|(work, ended)| (work, Some(ended))),
            None => coordinate::<D>(job, &tasks, &meeting, None).map(|work| (work, None)),
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
    tasks: &[Task],
    meeting: &Meeting,
    own: Option<Result<&mut Member<'_, D>, Failure>>,
) -> Result<Work, Failure> {
    meeting.gate();
    let ready = own.transpose().and_then(|own| meeting.gather().map(|_| own));
    let outcome = ready.and_then(|own| iterate(job, tasks, meeting, own));
    meeting.end();
    meeting.gate();
    outcome
}

fn iterate<D: Driver>(
    job: &Job,
    tasks: &[Task],
    meeting: &Meeting,
    mut own: Option<&mut Member<'_, D>>,
) -> Result<Work, Failure> {
    let mut series = Series::new(&job.measure);
    let mut workers: Vec<Worker> = tasks.iter().map(|task| Worker::of(task)).collect();
    while !series.done() {
        meeting.announce(series.warming());
        meeting.gate();
        match &mut own {
            Some(member) => meeting.leave(0, member.iteration(true)),
            None => meeting.conduct(),
        }
        meeting.gate();
        let passes = meeting.gather()?;
        if !series.warming() {
            for (worker, pass) in workers.iter_mut().zip(&passes) {
                worker.add(pass, job.measure.barrier);
            }
        }
        series.record(combine(tasks, &passes))?;
    }
    let usage = series.usage.filter(|_| USAGE_IS_PER_THREAD || tasks.len() == 1);
    Ok(Work {
        counts: series.counts,
        warmup_ns: series.warmup_ns,
        iterations_ns: series.iterations_ns,
        cpu_ns: usage.map(|usage| usage.cpu),
        switches: usage.filter(|_| SWITCHES_ARE_COUNTED).map(|usage| usage.switches),
        workers,
        ..Work::default()
    })
}

/// An iteration lasts from the earliest start to the latest end; the counts are the workers'.
fn combine(tasks: &[Task], passes: &[Pass]) -> Lap {
    let mut counts = Counts::default();
    for (task, pass) in tasks.iter().zip(passes) {
        if task.role == Role::Worker {
            counts.add(&pass.counts);
        }
    }
    let usages = passes.iter().map(|pass| pass.usage);
    let usage = usages.reduce(|sum, one| sum.zip(one).map(|(sum, one): (Usage, Usage)| sum + one));
    let start = passes.iter().map(|pass| pass.start).min();
    let end = passes.iter().map(|pass| pass.end).max();
    let elapsed = end.zip(start).map(|(end, start)| end - start);
    Lap {
        nanoseconds: nanoseconds(elapsed.unwrap_or_default()),
        counts,
        usage: usage.flatten(),
        busy: passes.iter().map(|pass| pass.busy).sum(),
    }
}

/// Adds what the members had at their ends, and leaves the workers out where none is asked for.
fn finish(job: &Job, work: &mut Work, ended: Vec<Ended>) {
    let mut ended = ended.into_iter();
    let mut workers = work.workers.iter_mut();
    if let (Some(first), Some(worker)) = (ended.next(), workers.next()) {
        work.readback = first.work.readback;
        work.effective = first.work.effective;
        work.plans = first.work.plans;
        work.phases_ns = first.work.phases_ns;
        (worker.latencies, worker.pacing) = first.watch.into_histograms();
    }
    for (worker, ended) in workers.zip(ended) {
        (worker.latencies, worker.pacing) = ended.watch.into_histograms();
    }
    let plan = &job.measure;
    let plain = plan.workers == 1 && !plan.latencies && plan.rate.is_none() && !plan.barrier;
    if plain && job.writer.is_none() {
        work.workers.clear();
    }
}

impl Worker {
    fn of(task: &Task) -> Self {
        Worker {
            role: task.role,
            operations: task.operations.end - task.operations.start,
            rows: 0,
            checksum: 0,
            iterations_ns: Vec::new(),
            spans_us: Vec::new(),
            latencies: None,
            pacing: None,
            busy: 0,
        }
    }

    /// Adds a measured iteration.
    fn add(&mut self, pass: &Pass, span: bool) {
        self.rows = pass.counts.rows;
        self.checksum = pass.counts.checksum;
        self.iterations_ns.push(nanoseconds(pass.elapsed()));
        self.spans_us.extend(span.then(|| pass.span_us()));
        self.busy += pass.busy;
    }
}
