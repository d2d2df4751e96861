//! Solvers: each advances the particles of a body, by one substep or by a whole frame.
//!
//! The law, checked by `tests/solver_law.rs`: amplification of a known oscillator, order of convergence, momentum. A
//! solver is chosen per group of bodies in the scene; it keeps scratch memory, never state.

mod block_rows;
pub(crate) mod cholesky;
mod coarse;
mod conjugate_gradient;
mod dissection;
pub mod equilibrium;
mod explicit;
mod filter;
mod goals;
mod incomplete;
mod incremental_potential;
pub mod limits;
mod multigrid;
mod panels;
mod projective;
pub mod sparse_ldl;
pub mod stability;
mod vertex_block_descent;
mod warped;
pub(crate) mod xpbd;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use glam::{DMat3, DVec3};

use crate::control::Control;
use crate::energy::{Configuration, ContactSprings, Energy, Within};
use crate::mesh::Topology;
use crate::model::GroupModel;
use crate::parallel::Parallel;
use crate::scene::SolverKind;
use crate::skin::Layer;
use crate::solver::xpbd::Xpbd;

/// What is to be advanced: forces, masses, supports.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Forces.
    pub energies: &'a [Box<dyn Energy>],
    /// Forces of a system of several bodies, each with its part of the particles; none of one body.
    pub system: &'a [Within<'a>],
    /// What joins the particles.
    pub topology: &'a Topology,
    /// What each element has flowed to; empty if none has.
    pub plastic: &'a [DMat3],
    /// What is imposed from outside.
    pub control: &'a Control,
    /// Threads.
    pub parallel: &'a Parallel,
    /// Index of the body.
    pub body: u32,
    /// 1/m, 1/kg; 0 for supported particles, whose velocity is given and kept, and for those that follow others.
    pub inverse_masses: &'a [f64],
    /// What holds the body to a skin, for solvers that take it.
    pub layer: Option<&'a Layer>,
    /// Contacts that are part of the system, for solvers that take them.
    pub contacts: Option<&'a ContactSprings>,
    /// Velocities that a search begins with if the last step is taken once more, from the same places and velocities, with other contacts.
    pub again: Option<&'a [DVec3]>,
}

impl<'a> Problem<'a> {
    /// All forces, those of contacts last.
    pub fn all_energies(&self) -> impl Iterator<Item = &'a dyn Energy> {
        let contacts = self.contacts.map(|c| c as &dyn Energy);
        self.energies.iter().map(|e| &**e).chain(self.system.iter().map(|e| e as &dyn Energy)).chain(contacts)
    }

    /// All that a force may depend on.
    pub fn configuration<'b>(&self, x: &'b [DVec3], v: &'b [DVec3], t: f64) -> Configuration<'b>
    where
        'a: 'b,
    {
        Configuration {
            x,
            v,
            t,
            body: self.body,
            topology: self.topology,
            plastic: self.plastic,
            control: self.control,
            parallel: self.parallel,
        }
    }

    /// Whether a particle with mass is supported.
    pub fn is_supported(&self) -> bool {
        self.inverse_masses.iter().zip(&self.topology.masses).any(|(w, m)| *w == 0.0 && *m > 0.0)
    }

    /// Sum of all forces, N, into `f`.
    pub fn forces(&self, x: &[DVec3], v: &[DVec3], t: f64, f: &mut Vec<DVec3>) {
        f.clear();
        f.resize(x.len(), DVec3::ZERO);
        let q = self.configuration(x, v, t);
        for energy in self.all_energies() {
            energy.add_force(&q, f);
        }
        self.topology.mapping.apply_jt(f);
    }

    /// Accelerations, m/s², into `a`; 0 for supported particles.
    pub fn accelerations(&self, x: &[DVec3], v: &[DVec3], t: f64, a: &mut Vec<DVec3>) {
        self.forces(x, v, t, a);
        for (a, w) in a.iter_mut().zip(self.inverse_masses) {
            *a *= *w;
        }
        // So that followers are where they belong between the stages of a step too.
        self.topology.mapping.apply_j(a);
    }

    /// Potential energy of all forces that have one, J.
    pub fn potential_energy(&self, x: &[DVec3], v: &[DVec3], t: f64) -> f64 {
        let q = self.configuration(x, v, t);
        self.all_energies().map(|e| e.value(&q)).sum()
    }
}

/// What a solver is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Order of convergence.
    pub order: u32,
    /// Whether any step size is stable on a linear system.
    pub unconditionally_stable: bool,
    /// Whether it keeps the energy of an oscillator bounded without damping it.
    pub symplectic: bool,
}

/// Linear solves that were stopped before they reached their tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutShort {
    /// How many.
    pub solves: u64,
    /// The largest residual that was left, as a share of the first; in the norm of the preconditioner, as the tolerance.
    pub residual: f64,
}

impl CutShort {
    /// Counts one.
    pub(crate) fn add(&mut self, residual: f64) {
        self.solves += 1;
        self.residual = self.residual.max(residual);
    }
}

/// What linear solves have cost. Nothing but people reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolveWork {
    /// How many there were.
    pub solves: u64,
    /// Iterations of all of them.
    pub iterations: u64,
    /// Time for forces and their derivatives, before the first iteration.
    pub linearise: Duration,
    /// Time for products with the matrix.
    pub product: Duration,
    /// Time for preconditioning, and for getting ready for it.
    pub precondition: Duration,
}

impl SolveWork {
    /// Adds what others have cost.
    pub(crate) fn add(&mut self, other: SolveWork) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.linearise += other.linearise;
        self.product += other.product;
        self.precondition += other.precondition;
    }
}

/// Does something and books the time it takes.
pub(crate) fn timed<R>(time: &mut Duration, work: impl FnOnce() -> R) -> R {
    let clock = Instant::now();
    let result = work();
    *time += clock.elapsed();
    result
}

/// Advances the particles of a body.
pub trait Solver: Debug + Send + Sync {
    /// What it is good for.
    fn capabilities(&self) -> Capabilities;

    /// Iterations of the last linear solve; 0 for solvers that do not iterate.
    fn iterations(&self) -> u32 {
        0
    }

    /// Solves that were stopped early since it was last asked.
    fn take_cut_short(&mut self) -> CutShort {
        CutShort::default()
    }

    /// What its solves have cost since it was last asked; nothing for solvers that do not iterate.
    fn take_work(&mut self) -> SolveWork {
        SolveWork::default()
    }

    /// Whether contacts can be part of its system.
    fn takes_contacts(&self) -> bool {
        false
    }

    /// What the last step goes down, without its contacts, as velocities go from those of [`Problem::again`] to others, kg m²/s²: its derivative there
    /// and here. `x` and `v` are those of the beginning of the step.
    fn slopes(
        &mut self,
        _problem: &Problem,
        (_x, _v): (&[DVec3], &[DVec3]),
        _to: &[DVec3],
        _t: f64,
    ) -> [f64; 2] {
        [0.0; 2]
    }

    /// Advances positions and velocities from `t` by `h`, s. Supported particles move at the velocity they have.
    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64);
}

/// How the bodies of a group are advanced.
#[derive(Debug)]
pub(crate) enum Method {
    /// One substep at a time, with limits, contact and tearing in between.
    Substeps(Box<dyn Solver>),
    /// A whole frame at a time, with what it needs inside.
    RealTime(Box<Xpbd>),
}

impl Method {
    /// The method of a group, with empty scratch memory.
    pub(crate) fn of(group: &GroupModel) -> Method {
        match substep_solver(group) {
            Some(solver) => Method::Substeps(solver),
            None => Method::RealTime(Box::new(Xpbd::new(group.xpbd))),
        }
    }

    /// Whether contacts can be part of its system.
    pub(crate) fn takes_contacts(&self) -> bool {
        matches!(self, Method::Substeps(solver) if solver.takes_contacts())
    }

    /// Iterations of the last linear solve; 0 for methods that do not iterate.
    pub(crate) fn iterations(&self) -> u32 {
        match self {
            Method::Substeps(solver) => solver.iterations(),
            Method::RealTime(_) => 0,
        }
    }

    /// Solves that were stopped early since it was last asked.
    pub(crate) fn take_cut_short(&mut self) -> CutShort {
        match self {
            Method::Substeps(solver) => solver.take_cut_short(),
            Method::RealTime(_) => CutShort::default(),
        }
    }

    /// What its solves have cost since it was last asked.
    pub(crate) fn take_work(&mut self) -> SolveWork {
        match self {
            Method::Substeps(solver) => solver.take_work(),
            Method::RealTime(_) => SolveWork::default(),
        }
    }
}

/// The solver of a group that advances by substeps; none for the real-time solver.
fn substep_solver(group: &GroupModel) -> Option<Box<dyn Solver>> {
    let solver: Box<dyn Solver> = match group.solver {
        SolverKind::ExplicitEuler => Box::new(explicit::RungeKutta::new(&explicit::EULER)),
        SolverKind::SymplecticEuler => Box::new(explicit::SymplecticEuler::default()),
        SolverKind::ModifiedEuler => Box::new(explicit::RungeKutta::new(&explicit::HEUN)),
        SolverKind::Midpoint => Box::new(explicit::RungeKutta::new(&explicit::MIDPOINT)),
        SolverKind::Rk4 => Box::new(explicit::RungeKutta::new(&explicit::RK4)),
        SolverKind::Verlet => Box::new(explicit::Verlet::default()),
        SolverKind::ImplicitEulerCg => Box::new(conjugate_gradient::ImplicitEulerCg::new(group.cg)),
        SolverKind::ImplicitEulerCholesky => Box::new(cholesky::ImplicitEulerCholesky::default()),
        SolverKind::ImplicitFilter => Box::new(filter::ImplicitFilter::default()),
        SolverKind::ProjectiveDynamics => Box::new(projective::ProjectiveDynamics::new(group.descent)),
        SolverKind::VertexBlockDescent => {
            Box::new(vertex_block_descent::VertexBlockDescent::new(group.descent))
        }
        SolverKind::QuasiStatic => Box::new(equilibrium::QuasiStatic::new(group.cg)),
        SolverKind::Goals => Box::new(goals::Goals::new(group.goals)),
        SolverKind::Xpbd => return None,
    };
    Some(solver)
}

/// The name of a solver in scene files.
pub fn solver_name(kind: SolverKind) -> &'static str {
    match kind {
        SolverKind::ExplicitEuler => "explicit_euler",
        SolverKind::SymplecticEuler => "symplectic_euler",
        SolverKind::ModifiedEuler => "modified_euler",
        SolverKind::Midpoint => "midpoint",
        SolverKind::Rk4 => "rk4",
        SolverKind::Verlet => "verlet",
        SolverKind::ImplicitEulerCg => "implicit_euler_cg",
        SolverKind::ImplicitEulerCholesky => "implicit_euler_cholesky",
        SolverKind::ImplicitFilter => "implicit_filter",
        SolverKind::ProjectiveDynamics => "projective_dynamics",
        SolverKind::VertexBlockDescent => "vertex_block_descent",
        SolverKind::QuasiStatic => "quasi_static",
        SolverKind::Xpbd => "xpbd",
        SolverKind::Goals => "goals",
    }
}

/// All solvers of the equations of motion, in the order of the scene format: all but `quasi_static`, which moves nothing in time, and `goals`, which is
/// made to look right.
pub const ALL_SOLVERS: [SolverKind; 12] = [
    SolverKind::ExplicitEuler,
    SolverKind::SymplecticEuler,
    SolverKind::ModifiedEuler,
    SolverKind::Midpoint,
    SolverKind::Rk4,
    SolverKind::Verlet,
    SolverKind::ImplicitEulerCg,
    SolverKind::ImplicitEulerCholesky,
    SolverKind::ImplicitFilter,
    SolverKind::ProjectiveDynamics,
    SolverKind::VertexBlockDescent,
    SolverKind::Xpbd,
];
