//! What an engine has to do to be in the table.

use crate::cloth::Cloth;
use crate::rapier::Edges::{Sheet, Triangles};
use crate::rapier::Method::{Fem, Sweeps};
use crate::{rapier, souple};

/// An engine with the cloth in it.
pub trait Peer {
    /// Solver steps per frame.
    fn substeps(&self) -> u32;
    /// Advances by one frame, 1/60 s, on one thread. Only this is timed.
    fn step(&mut self);
    /// Where the vertices are, m, in the order of the cloth.
    fn positions(&self) -> Vec<[f64; 3]>;
}

/// A row of the table: its name, and how the engine is made ready.
pub struct Entry {
    /// Name in the table.
    pub name: &'static str,
    /// Puts the cloth into a fresh engine.
    pub make: fn(&Cloth) -> Box<dyn Peer>,
}

/// Everyone who takes part. The first is what the others are compared with.
pub const ENTRIES: [Entry; 8] = [
    Entry { name: "souple", make: souple::make },
    Entry { name: "rapier-5", make: |cloth| rapier::make(cloth, 5, Sweeps(1), Triangles) },
    Entry { name: "rapier-20", make: |cloth| rapier::make(cloth, 20, Sweeps(1), Triangles) },
    Entry { name: "rapier-5x4", make: |cloth| rapier::make(cloth, 5, Sweeps(4), Triangles) },
    Entry { name: "rapier-20x4", make: |cloth| rapier::make(cloth, 20, Sweeps(4), Triangles) },
    Entry { name: "rapier-sheet-5", make: |cloth| rapier::make(cloth, 5, Sweeps(1), Sheet) },
    Entry { name: "rapier-sheet-20", make: |cloth| rapier::make(cloth, 20, Sweeps(1), Sheet) },
    Entry { name: "rapier-fem-5", make: |cloth| rapier::make(cloth, 5, Fem, Triangles) },
];
