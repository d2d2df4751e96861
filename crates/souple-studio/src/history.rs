//! What has been shown so far, within a budget of memory: for scrubbing, replay in another look (ESSI-16) and meters.
//!
//! Moments are shared, not copied. When they would take more memory than the budget, every second one is let go, then
//! every second of what is left, and so on; the first and the newest always stay. Steps always rise: a moment that is not
//! after the newest one (somebody went back to a snapshot) takes the place of everything from its step on.
//!
//! Memory is counted exactly for what grows with the scene (positions, meshes, topologies of torn bodies), once for each
//! shared part; a few bytes of bookkeeping per moment are not counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use souple::mesh::{Edge, Spring, Topology};
use souple::{Measures, Stage};
use souple_viewer::{ItemMesh, Moment};

/// Numbers of one step, for the meters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Number of the step.
    pub step: u64,
    /// Simulated time, s.
    pub time: f64,
    /// Time the step took, ms.
    pub step_ms: f64,
    /// Of that, the time of each stage in the order of [`Stage::ALL`], ms.
    pub stage_ms: [f64; Stage::ALL.len()],
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Energy stored in springs, J.
    pub elastic_energy: f64,
    /// Energy of weight, J.
    pub potential_energy: f64,
    /// Mean stretch of edges, percent.
    pub stretch_mean_percent: f64,
    /// Largest stretch of an edge, percent.
    pub stretch_max_percent: f64,
    /// Lowest point, m.
    pub lowest: f64,
    /// Warnings so far in this run.
    pub warnings: u64,
}

impl Sample {
    /// The numbers of a moment that was measured.
    pub fn new(moment: &Moment, measures: &Measures) -> Sample {
        Sample {
            step: moment.step,
            time: moment.time,
            kinetic_energy: measures.kinetic_energy,
            elastic_energy: measures.elastic_energy,
            potential_energy: measures.potential_energy,
            stretch_mean_percent: measures.stretch_mean_percent,
            stretch_max_percent: measures.stretch_max_percent,
            lowest: measures.lowest,
            ..Sample::default()
        }
    }
}

/// The moments of one run.
#[derive(Debug)]
pub struct History {
    budget: usize,
    moments: Vec<Arc<Moment>>,
    stride: u64,
    samples: Vec<Sample>,
    sample_stride: u64,
    /// Shared parts by address: how many moments hold each, and its bytes.
    parts: BTreeMap<usize, (usize, usize)>,
    bytes: usize,
}

impl Default for History {
    fn default() -> Self {
        History::new(History::BUDGET)
    }
}

impl History {
    /// Most memory that moments take, bytes.
    pub const BUDGET: usize = 512 << 20;
    /// Most samples that are kept: ten minutes at 60 steps per second.
    pub const MAX_SAMPLES: usize = 36_000;

    /// An empty history with a budget in bytes.
    pub fn new(budget: usize) -> History {
        History {
            budget,
            moments: Vec::new(),
            stride: 1,
            samples: Vec::new(),
            sample_stride: 1,
            parts: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Adds a moment and its numbers. What had to go is handed out, so that a caller that holds a lock can free the
    /// memory after it.
    #[must_use = "drop it where nobody waits"]
    pub fn push(&mut self, moment: Arc<Moment>, sample: Sample) -> Vec<Arc<Moment>> {
        let step = moment.step;
        let mut gone = self.moments.split_off(self.moments.partition_point(|m| m.step < step));
        self.samples.truncate(self.samples.partition_point(|s| s.step < step));
        // The newest is kept off the stride until the next one comes.
        if self.moments.len() > 1 && self.moments.last().is_some_and(|m| m.step % self.stride != 0) {
            gone.extend(self.moments.pop());
        }
        gone.iter().for_each(|m| self.forget(m));
        self.count(&moment);
        self.moments.push(moment);
        while self.bytes > self.budget && self.moments.len() > 2 {
            self.stride = self.stride.saturating_mul(2);
            gone.extend(self.thin_out());
        }
        if self.samples.len() > 1 && self.samples.last().is_some_and(|s| s.step % self.sample_stride != 0) {
            self.samples.pop();
        }
        self.samples.push(Sample { step, ..sample });
        while self.samples.len() > History::MAX_SAMPLES {
            self.sample_stride = self.sample_stride.saturating_mul(2);
            let (stride, first) = (self.sample_stride, self.samples[0].step);
            self.samples.retain(|s| s.step % stride == 0 || s.step == first || s.step == step);
        }
        gone
    }

    /// Forgets everything; what was kept is handed out.
    #[must_use = "drop it where nobody waits"]
    pub fn clear(&mut self) -> Vec<Arc<Moment>> {
        let gone = std::mem::take(&mut self.moments);
        *self = History::new(self.budget);
        gone
    }

    fn thin_out(&mut self) -> Vec<Arc<Moment>> {
        let (stride, last) = (self.stride, self.moments.len() - 1);
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (k, moment) in std::mem::take(&mut self.moments).into_iter().enumerate() {
            if k == 0 || k == last || moment.step % stride == 0 {
                kept.push(moment);
            } else {
                self.forget(&moment);
                gone.push(moment);
            }
        }
        self.moments = kept;
        gone
    }

    fn count(&mut self, moment: &Moment) {
        for_each_part(moment, &mut |address, bytes| {
            let part = self.parts.entry(address).or_insert_with(|| (0, bytes()));
            part.0 += 1;
            if part.0 == 1 {
                self.bytes += part.1;
            }
        });
    }

    fn forget(&mut self, moment: &Moment) {
        for_each_part(moment, &mut |address, _| {
            if let Some(part) = self.parts.get_mut(&address) {
                part.0 -= 1;
                if part.0 == 0 {
                    self.bytes -= part.1;
                    self.parts.remove(&address);
                }
            }
        });
    }

    /// Kept moments, by step.
    pub fn moments(&self) -> &[Arc<Moment>] {
        &self.moments
    }

    /// Kept samples, by step.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The last kept moment at or before a step; the first one when there is none before.
    pub fn at(&self, step: u64) -> Option<&Arc<Moment>> {
        let after = self.moments.partition_point(|m| m.step <= step);
        self.moments.get(after.saturating_sub(1))
    }

    /// First and last step.
    pub fn range(&self) -> Option<(u64, u64)> {
        Some((self.moments.first()?.step, self.moments.last()?.step))
    }

    /// Every how many steps a moment is kept: 1, 2, 4 and so on.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Memory in use, bytes; shared parts are counted once.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Calls back with the address of every shared part and a way to count its bytes.
fn for_each_part(moment: &Moment, part: &mut dyn FnMut(usize, &dyn Fn() -> usize)) {
    for item in &moment.items {
        part(Arc::as_ptr(&item.positions) as usize, &|| size_of_val(item.positions.as_slice()));
        part(Arc::as_ptr(&item.speeds) as usize, &|| size_of_val(item.speeds.as_slice()));
        part(Arc::as_ptr(&item.plastic) as usize, &|| size_of_val(item.plastic.as_slice()));
        part(Arc::as_ptr(&item.creases) as usize, &|| size_of_val(item.creases.as_slice()));
        part(Arc::as_ptr(&item.border) as usize, &|| size_of_val(item.border.as_slice()));
        part(Arc::as_ptr(&item.contacts) as usize, &|| size_of_val(item.contacts.as_slice()));
        part(Arc::as_ptr(&item.crossings) as usize, &|| item.crossings.bytes());
        part(Arc::as_ptr(&item.mesh) as usize, &|| mesh_bytes(&item.mesh));
        if let Some((mesh, positions)) = &item.fine {
            part(Arc::as_ptr(mesh) as usize, &|| mesh_bytes(mesh));
            part(Arc::as_ptr(positions) as usize, &|| size_of_val(positions.as_slice()));
        }
        if let Some(topology) = &item.mesh.topology {
            part(Arc::as_ptr(topology) as usize, &|| topology_bytes(topology));
        }
    }
}

fn mesh_bytes(mesh: &ItemMesh) -> usize {
    size_of_val(mesh.triangles.as_slice())
        + size_of_val(mesh.edges.as_slice())
        + size_of_val(mesh.edge_triangles.as_slice())
        + size_of_val(mesh.segments.as_slice())
        + size_of_val(mesh.cells.as_slice())
        + size_of_val(mesh.uvs.as_slice())
        + size_of_val(mesh.charts.as_slice())
}

fn topology_bytes(topology: &Topology) -> usize {
    // Per particle: place, mass, parent, area and two row starts. Per spring: itself, its packed ends, two row entries.
    // Per triangle: corners, area, three row entries.
    topology.len() * (24 + 8 + 4 + 8 + 8)
        + topology.springs.len() * (size_of::<Spring>() + 16)
        + topology.triangles.len() * 32
        + size_of_val(topology.segments.as_slice())
        + topology.edges.len() * size_of::<Edge>()
}

#[cfg(test)]
mod tests {
    use glam::{Mat4, Vec3};
    use proptest::prelude::*;
    use souple_viewer::{Item, ItemKind};

    use super::*;

    /// A moment of one body of that many vertices; 16 bytes each. The mesh is shared.
    fn moment(step: u64, vertices: usize, mesh: &Arc<ItemMesh>) -> Arc<Moment> {
        let item = Item {
            name: "cloth".into(),
            kind: ItemKind::Body(0),
            mesh: Arc::clone(mesh),
            positions: Arc::new(vec![Vec3::splat(step as f32); vertices]),
            speeds: Arc::new(vec![0.0; vertices]),
            plastic: Arc::default(),
            contacts: Arc::new(Vec::new()),
            crossings: Arc::default(),
            fine: None,
            gains: Arc::default(),
            painted: Arc::default(),
            border: Arc::default(),
            creases: Arc::default(),
            model: None,
            transform: Mat4::IDENTITY,
        };
        Arc::new(Moment { step, time: step as f64 / 60.0, items: vec![item], floor: None })
    }

    fn push(history: &mut History, step: u64, vertices: usize, mesh: &Arc<ItemMesh>) {
        drop(
            history.push(moment(step, vertices, mesh), Sample { step_ms: step as f64, ..Sample::default() }),
        );
    }

    fn steps(history: &History) -> Vec<u64> {
        history.moments().iter().map(|m| m.step).collect()
    }

    /// What it says it uses, counted anew.
    fn recount(history: &History) -> usize {
        let mut fresh = History::new(usize::MAX);
        history.moments().iter().for_each(|m| fresh.count(m));
        fresh.bytes
    }

    #[test]
    fn everything_is_kept_within_the_budget() {
        let (mut history, mesh) = (History::new(10 * 1600), Arc::default());
        for step in 0..10 {
            push(&mut history, step, 100, &mesh);
        }
        assert_eq!(steps(&history), (0..10).collect::<Vec<_>>());
        assert_eq!((history.bytes(), history.stride(), history.range()), (16_000, 1, Some((0, 9))));
        // One more: every second one goes, the newest stays.
        push(&mut history, 10, 100, &mesh);
        assert_eq!(steps(&history), [0, 2, 4, 6, 8, 10]);
        push(&mut history, 11, 100, &mesh);
        push(&mut history, 12, 100, &mesh);
        assert_eq!(steps(&history), [0, 2, 4, 6, 8, 10, 12]);
        assert_eq!(history.stride(), 2);
        assert_eq!(history.samples().len(), 13, "numbers are small and stay");
    }

    #[test]
    fn a_step_is_found_or_the_one_before() {
        let (mut history, mesh) = (History::new(usize::MAX), Arc::default());
        assert!(history.at(3).is_none() && history.range().is_none());
        for step in [5, 7, 9] {
            push(&mut history, step, 1, &mesh);
        }
        for (asked, found) in [(0, 5), (5, 5), (6, 5), (7, 7), (8, 7), (9, 9), (u64::MAX, 9)] {
            assert_eq!(history.at(asked).unwrap().step, found, "{asked}");
        }
    }

    #[test]
    fn going_back_takes_the_place_of_what_came_after() {
        let (mut history, mesh) = (History::new(usize::MAX), Arc::default());
        (0..8).for_each(|step| push(&mut history, step, 1, &mesh));
        let again = moment(3, 1, &mesh);
        let gone = history.push(Arc::clone(&again), Sample::default());
        assert_eq!(gone.iter().map(|m| m.step).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(steps(&history), [0, 1, 2, 3]);
        assert!(Arc::ptr_eq(history.at(3).unwrap(), &again));
        assert_eq!(history.samples().iter().map(|s| s.step).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(history.clear().len(), 4);
        assert_eq!((history.bytes(), history.moments().len(), history.samples().len()), (0, 0, 0));
    }

    #[test]
    fn shared_parts_count_once_and_the_meshes_of_torn_bodies_too() {
        let (mut history, mut bytes) = (History::new(usize::MAX), Vec::new());
        for tear in 0..3 {
            let mesh = Arc::new(ItemMesh { triangles: vec![[0; 3]; 10], ..ItemMesh::default() });
            push(&mut history, 2 * tear, 0, &mesh);
            push(&mut history, 2 * tear + 1, 0, &mesh);
            bytes.push(history.bytes());
        }
        assert_eq!(bytes, [120, 240, 360]);
    }

    #[test]
    fn one_moment_larger_than_the_budget_is_still_there() {
        let (mut history, mesh) = (History::new(10), Arc::default());
        for step in 0..50 {
            push(&mut history, step, 100, &mesh);
        }
        assert_eq!(steps(&history), [0, 49]);
    }

    #[test]
    fn samples_are_thinned_out_too() {
        let (mut history, mesh) = (History::new(0), Arc::default());
        let last = History::MAX_SAMPLES as u64 + 1000;
        (0..=last).for_each(|step| push(&mut history, step, 0, &mesh));
        let samples = history.samples();
        assert!(samples.len() <= History::MAX_SAMPLES && samples.len() >= History::MAX_SAMPLES / 2);
        assert!(samples.windows(2).all(|w| w[0].step < w[1].step));
        assert!(samples.iter().all(|s| s.step_ms == s.step as f64));
        assert_eq!((samples[0].step, samples[samples.len() - 1].step), (0, last));
    }

    proptest! {
        #[test]
        fn within_budget_rising_and_counted_right(
            pushes in prop::collection::vec((0u64..300, 0usize..60, any::<bool>()), 1..200),
            budget in 0usize..20_000,
        ) {
            let mut history = History::new(budget);
            let mut mesh: Arc<ItemMesh> = Arc::default();
            for (step, vertices, tears) in pushes {
                if tears {
                    mesh = Arc::new(ItemMesh { edges: vec![[0, 1]; vertices], ..ItemMesh::default() });
                }
                push(&mut history, step, vertices, &mesh);
                let steps = steps(&history);
                prop_assert!(steps.windows(2).all(|w| w[0] < w[1]), "{steps:?}");
                prop_assert_eq!(steps.last(), Some(&step));
                prop_assert_eq!(history.bytes(), recount(&history));
                prop_assert!(history.bytes() <= budget || steps.len() <= 2);
                prop_assert!(history.stride().is_power_of_two() || history.stride() == u64::MAX);
            }
        }
    }
}
