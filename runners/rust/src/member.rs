//! A worker or the writer: its connection, its iterations, and what it has recorded.

use crate::access::Access;
use crate::checksum::Checksum;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::inspect;
use crate::job::Job;
use crate::meeting::Meeting;
use crate::parts::Part;
use crate::phase::phase;
use crate::recording::Recording;
use crate::result::{Phases, Work};
use crate::session::{Lap, Session, connect};
use crate::verify;

/// A member, its number among all, and where it works.
pub struct Place<'j> {
    pub job: &'j Job,
    pub access: &'j Access,
    pub meeting: &'j Meeting,
    pub part: &'j Part<'j>,
    pub number: usize,
}

/// What a member has at the end: the first one's read-back, pragmas, plans and phases.
pub struct Ended {
    pub work: Work,
    pub recording: Recording,
}

/// A member between two iterations.
pub struct Member<'c, D: Driver + 'c> {
    place: &'c Place<'c>,
    session: Session<'c, D, Checksum>,
    sink: Checksum,
    recording: Recording,
    recorded: bool,
    /// How far the operations have gone on.
    done: u64,
}

impl Place<'_> {
    /// Opens, prepares, lets `rounds` work, reads back and inspects, closes. `rounds` takes part in
    /// the meeting even where there is no member, because that failed to get ready.
    pub fn live<D: Driver, R>(
        &self,
        rounds: impl FnOnce(Result<&mut Member<'_, D>, Failure>) -> Result<R, Failure>,
    ) -> Result<(R, Ended), Failure> {
        let Place { job, access, meeting, part, number } = *self;
        let Some(opened) = meeting.alone(|| phase(|| connect::<D>(access))) else {
            return Err(Failure::new("the run was over before it began"));
        };
        let (connection, open) = match opened {
            Ok(opened) => opened,
            Err(failure) => return absent(rounds(Err(failure))),
        };
        // The first look at a file in WAL mode may have to recover it, and others find it locked.
        let (session, prepare) =
            match meeting.alone(|| phase(|| Session::prepare(&connection, part, access))) {
                Some(Ok(prepared)) => prepared,
                Some(Err(failure)) => return absent(rounds(Err(failure))),
                None => return Err(Failure::new("the run was over before it began")),
            };
        let recording = Recording::new(part.manner);
        let recorded = recording.is_needed();
        let sink = Checksum::default();
        let (outcome, mut sink, recording) = {
            let place = self;
            let mut member = Member::<D> { place, session, sink, recording, recorded, done: 0 };
            let outcome = rounds(Ok(&mut member))?;
            (outcome, member.sink, member.recording)
        };
        let mut work = Work::default();
        if number == 0 && job.measure.digest > 0 {
            let operations = 0..job.measure.digest;
            work = verify::witnessed::<D>(&connection, job, access, operations)?.0;
        } else if number == 0 {
            inspect::finish::<D, _>(&connection, job, access, &mut sink, &mut work)?;
        }
        let ((), close) = phase(|| D::close(connection))?;
        work.phases_ns = Phases::of(open, prepare, close);
        Ok((outcome, Ended { work, recording }))
    }

    /// A life in a thread of its own, ruled by the main thread.
    pub fn serve<D: Driver>(&self) -> Result<Ended, Failure> {
        let Place { meeting, number, .. } = *self;
        let rounds = |member: Result<&mut Member<'_, D>, Failure>| {
            let member = member.map_err(|failure| meeting.leave(number, Err(failure)));
            meeting.gate();
            meeting.gate();
            let Ok(member) = member else {
                return Ok(());
            };
            while !meeting.is_over() {
                meeting.leave(number, member.iteration(false));
                meeting.gate();
                meeting.gate();
            }
            Ok(())
        };
        self.live::<D, ()>(rounds).map(|((), ended)| ended)
    }
}

/// The end of a member that did not get ready.
fn absent<R, T>(rounds: Result<R, Failure>) -> Result<T, Failure> {
    Err(rounds.err().unwrap_or_else(|| Failure::new("a worker did not get ready")))
}

impl<D: Driver> Member<'_, D> {
    /// One iteration in step with the others; `None` when it was not released. `main` is the main
    /// thread.
    pub fn iteration(&mut self, main: bool) -> Result<Option<Lap>, Failure> {
        let Place { job, meeting, part, number, .. } = *self.place;
        // The first one's reset serves all.
        let due = if number == 0 { job.reset_before(self.done) } else { &[] };
        let ready = self.session.reset(due);
        meeting.line();
        let ready = ready.and_then(|()| self.session.begin());
        meeting.release(main);
        ready?;
        if meeting.is_over() {
            return Ok(None);
        }
        let operations = self.done + part.operations.start..self.done + part.operations.end;
        self.done += part.stride;
        let sink = &mut self.sink;
        let lap = if self.recorded {
            self.session.recorded(operations, sink, &mut self.recording)?
        } else {
            self.session.timed(operations, sink)?
        };
        self.session.commit()?;
        if meeting.is_warming() {
            self.recording.clear();
        }
        Ok(Some(lap))
    }
}
