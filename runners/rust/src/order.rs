//! Operations that differ: which steps each performs, in which turn, and when.

use std::ops::Range;

use crate::job::Sequence;

#[derive(Clone, Debug)]
pub struct Order {
    places: Vec<Place>,
}

/// A place of the sequence, which operations come to in turn.
#[derive(Clone, Debug)]
pub struct Place {
    pub steps: Range<usize>,
    /// How often its group came before since the beginning of the sequence.
    pub turn: u64,
    /// Whether this worker performs it.
    pub mine: bool,
    planned_us: Option<u64>,
}

impl Order {
    /// For this worker, or for one that performs the operations of all.
    pub fn new(sequence: &Sequence, worker: Option<u64>) -> Self {
        let mut end = 0;
        let mut groups = Vec::new();
        for &size in &sequence.groups {
            groups.push((end..end + size, 0));
            end += size;
        }
        let places = sequence.order.iter().enumerate().map(|(place, &group)| {
            let (steps, turn) = &mut groups[group];
            *turn += 1;
            let own = sequence.workers.get(place).copied().zip(worker);
            Place {
                steps: steps.clone(),
                turn: *turn - 1,
                mine: own.is_none_or(|(theirs, worker)| theirs == worker),
                planned_us: sequence.planned_us.get(place).copied(),
            }
        });
        Order { places: places.collect() }
    }

    #[inline(always)]
    pub fn at(&self, operation: u64) -> &Place {
        &self.places[(operation % self.places.len() as u64) as usize]
    }

    /// How many of these operations this worker performs.
    pub fn count(&self, operations: Range<u64>) -> u64 {
        operations.filter(|&operation| self.at(operation).mine).count() as u64
    }

    /// Nanoseconds from when the operation `first` is planned to when this one is.
    #[inline(always)]
    pub fn planned(&self, operation: u64, first: u64) -> Option<u64> {
        let planned = self.at(operation).planned_us?;
        Some(planned.saturating_sub(self.at(first).planned_us?) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(worker: Option<u64>) -> Order {
        let sequence = serde_json::json!({"groups": [2, 1], "order": [0, 1, 0],
            "workers": [0, 1, 1], "planned_us": [5, 7, 20]});
        Order::new(&serde_json::from_value(sequence).unwrap(), worker)
    }

    #[test]
    fn a_group_takes_its_turns_and_begins_anew_with_the_sequence() {
        let order = order(None);
        let places = (0..4).map(|operation| order.at(operation));
        let told: Vec<_> = places.map(|place| (place.steps.clone(), place.turn)).collect();
        assert_eq!(told, [(0..2, 0), (2..3, 0), (0..2, 1), (0..2, 0)]);
    }

    #[test]
    fn a_worker_performs_its_own_operations_and_one_alone_those_of_all() {
        assert_eq!(order(Some(1)).count(0..7), 4);
        assert_eq!(order(Some(0)).count(0..7), 3);
        assert_eq!(order(None).count(0..7), 7);
    }

    #[test]
    fn times_count_from_the_first_operation() {
        assert_eq!(order(None).planned(2, 1), Some(13_000));
        assert_eq!(order(None).planned(3, 3), Some(0));
    }
}
