//! Sheets that bend: cantilevers under their own weight, under a load and under a moment at the tip, their first
//! frequency, and how much the cut of the mesh matters; by the implicit solver and by the real-time one.
//!
//! The wall is half-way between two columns of vertices that are held: there the strip is level.
//!
//! **Tolerance of the real-time solver.** One visit per substep is a spring in series with each second derivative c of a
//! patch: 1/k + h² D instead of 1/k, D = Σ w²/m. What patches that are visited later in the same substep move is seen by
//! those before: with all of it, h² (D + U), U the upper triangle of W M⁻¹ Wᵀ. A smooth bend feels the symmetric part, half
//! of D and half of W M⁻¹ Wᵀ; the latter is the net force on each vertex, which is next to nothing. So with forces k c the
//! rigidity is too small by a share of ½ h² Σ k² c² D / Σ k c²: [`Strip::softening`]. It grows with B h²/(ρ a⁴), a the side of
//! a cell. Dissipation α is taken off before constraints act, and with it a share of α h of the weight.

use glam::{DMat3, DVec3};
use souple::math::uniform;
use souple::mesh::generate;
use souple::scene::{
    Body, Diagonals, Family, Grid, Group, InlineMesh, Layout, Pin, Placement, Pull, Rayleigh, Region, Scene,
    Select, Shape, SolverKind, Springs, Time,
};
use souple::solver::solver_name;
use souple::{Command, Simulation};

use super::Case;
use super::integrators::simulate;

const G: f64 = 9.81;
/// Overhang, m.
const LENGTH: f64 = 0.5;
/// Mass per area, kg/m².
const DENSITY: f64 = 0.2;
/// Rigidity of a cantilever of Γ = ρ g L³/B = 10, N·m.
const GAMMA_10: f64 = DENSITY * G * LENGTH * LENGTH * LENGTH / 10.0;
/// Drop over reach of that.
const SLOPE_10: f64 = 1.06680;
/// Substep of the real-time solver on 20 cells, s.
const SMALL: f64 = 1.0 / 12_000.0;

/// How the cells of a strip are cut.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Regular,
    Alternating,
    /// Vertices moved by up to a quarter of a cell, cells cut along the shorter diagonal.
    Irregular,
}

/// What bends the strip.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    Nothing,
    Weight,
    /// A force at the tip, N, downwards.
    Tip(f64),
}

/// A strip held level at a wall at x = 0.
#[derive(Clone, Copy)]
struct Strip {
    solver: SolverKind,
    dt: Option<f64>,
    /// Length, m.
    length: f64,
    /// kg/m².
    density: f64,
    /// Bending rigidity, N·m.
    rigidity: f64,
    /// Tension per width and strain, N/m.
    modulus: f64,
    /// Cells along the overhang, without the half at the wall.
    cells: u32,
    /// Cells across; they are square.
    across: u32,
    cut: Cut,
    load: Load,
    /// Dissipation, 1/s.
    dissipation: f64,
    fps: f64,
}

impl Strip {
    fn new(solver: SolverKind, rigidity: f64) -> Strip {
        Strip {
            solver,
            dt: (solver == SolverKind::Xpbd).then_some(SMALL),
            length: LENGTH,
            density: DENSITY,
            rigidity,
            modulus: 2e4,
            cells: 20,
            across: 4,
            cut: Cut::Regular,
            load: Load::Weight,
            dissipation: 4.0,
            fps: 60.0,
        }
    }

    /// Side of a cell, m.
    fn cell(&self) -> f64 {
        self.length / (f64::from(self.cells) + 0.5)
    }

    fn columns(&self) -> u32 {
        self.cells + 2
    }

    /// First natural frequency of a clamped beam: 1.87510² √(B/(ρ L⁴)), rad/s.
    fn omega(&self) -> f64 {
        1.87510 * 1.87510 * (self.rigidity / self.density).sqrt() / (self.length * self.length)
    }

    fn shape(&self) -> Shape {
        let diagonals =
            if self.cut == Cut::Alternating { Diagonals::Alternating } else { Diagonals::Regular };
        let grid = Grid {
            size: [f64::from(self.columns() - 1) * self.cell(), f64::from(self.across) * self.cell()],
            vertices: [self.columns(), self.across + 1],
            diagonals,
            ..Grid::default()
        };
        match self.cut {
            Cut::Regular | Cut::Alternating => Shape::Grid(grid),
            Cut::Irregular => Shape::Mesh(irregular(&grid, 0.25 * self.cell())),
        }
    }

    fn simulation(&self) -> Simulation {
        let cell = self.cell();
        let near = |x: f64| Region { min: [x - 0.2 * cell, -9.0, -9.0], max: [x + 0.2 * cell, 9.0, 9.0] };
        let wall = Region { max: near(0.5 * cell).max, ..near(-0.5 * cell) };
        let pulls = match self.load {
            Load::Tip(force) => vec![Pull {
                select: Select::Within(near(self.length)),
                force: [0.0, -force, 0.0],
                ..Pull::default()
            }],
            Load::Nothing | Load::Weight => Vec::new(),
        };
        let body = Body {
            name: "strip".into(),
            shape: self.shape(),
            placement: Placement { translate: [-0.5 * cell, 0.0, 0.0], ..Placement::default() },
            density: Some(self.density),
            bending: Some(self.rigidity),
            springs: Springs {
                layout: Layout::Graph(1),
                stretch: Family { modulus: Some(self.modulus), ..Family::default() },
                ..Springs::default()
            },
            rayleigh: Some(Rayleigh { mass: self.dissipation, stiffness: None }),
            pins: vec![Pin { name: "wall".into(), select: Select::Within(wall), ..Pin::default() }],
            pulls,
            ..Body::default()
        };
        simulate(Scene {
            gravity: if self.load == Load::Weight { [0.0, -G, 0.0] } else { [0.0; 3] },
            time: Time { fps: self.fps, frames: 1 },
            groups: vec![Group { solver: self.solver, dt: self.dt, ..Group::default() }],
            bodies: vec![body],
            ..Scene::default()
        })
    }

    /// The strip at rest: the slowest mode, nearly critically damped, has gone down to 1e-7 or less.
    fn at_rest(&self) -> Simulation {
        let omega = self.omega();
        let mut s = Strip { dissipation: 1.8 * omega, ..*self }.simulation();
        for _ in 0..(20.0 / omega * self.fps) as u32 {
            s.step();
        }
        s
    }

    /// Mean of what the vertices of a column have; the last column is 0.
    fn mean_of_column(&self, of: &[DVec3], from_last: u32) -> DVec3 {
        let columns = self.columns() as usize;
        let first = columns - 1 - from_last as usize;
        let own: Vec<DVec3> = of.iter().copied().skip(first).step_by(columns).collect();
        own.iter().sum::<DVec3>() / own.len() as f64
    }

    /// Where the tip is, from the wall.
    fn tip(&self, s: &Simulation) -> DVec3 {
        self.mean_of_column(&s.state().bodies[0].x, 0)
    }

    /// Drop over reach at rest.
    fn slope(&self) -> f64 {
        let end = self.tip(&self.at_rest());
        -end.y / end.x
    }

    /// By how much the real-time solver makes it too soft for a bend along x, as a share; see the top of this file.
    fn softening(&self) -> f64 {
        let Some(h) = self.dt.filter(|_| self.solver == SolverKind::Xpbd) else { return 0.0 };
        let s = self.simulation();
        let topology = &s.state().bodies[0].topology;
        let mut inverse_masses: Vec<f64> = topology.masses.iter().map(|m| 1.0 / m).collect();
        s.state().bodies[0].pinned.iter().for_each(|p| inverse_masses[p.vertex as usize] = 0.0);
        let (mut added, mut all) = (0.0, 0.0);
        for patch in &topology.patches {
            for weights in &patch.weights {
                let terms = || patch.vertices.iter().map(|&v| v as usize).zip(weights);
                let c: f64 = terms().map(|(v, w)| 0.5 * w * topology.rest_positions[v].x.powi(2)).sum();
                let d: f64 = terms().map(|(v, w)| w * w * inverse_masses[v]).sum();
                added += 0.5 * h * h * d * (patch.stiffness * c).powi(2);
                all += patch.stiffness * c * c;
            }
        }
        added / all
    }

    /// Share that the real-time solver may be off by, with the dissipation of [`Strip::at_rest`].
    fn share(&self) -> f64 {
        match self.dt {
            Some(h) if self.solver == SolverKind::Xpbd => self.softening() + 1.8 * self.omega() * h,
            _ => 0.0,
        }
    }
}

/// A grid whose vertices are moved by up to `most` in their plane; those of the wall and of the tip stay, those of the
/// long borders move along them. Cells are cut along their shorter diagonal.
fn irregular(grid: &Grid, most: f64) -> InlineMesh {
    let mut mesh = generate::grid(grid);
    let [columns, rows] = grid.vertices;
    for (v, p) in (0u32..).zip(&mut mesh.positions) {
        let (row, column) = (v / columns, v % columns);
        let r = |k: u64| most * (2.0 * uniform(41, 2 * u64::from(v) + k) - 1.0);
        if column > 1 && column < columns - 1 {
            p.x += r(0);
            if row > 0 && row < rows - 1 {
                p.z += r(1);
            }
        }
    }
    let x = |v: u32| mesh.positions[v as usize];
    let mut triangles = Vec::new();
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let a = row * columns + column;
            let [b, c, d] = [a + columns, a + columns + 1, a + 1];
            if x(a).distance(x(c)) < x(b).distance(x(d)) {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    let positions = mesh.positions.iter().map(|p| p.to_array()).collect();
    InlineMesh { positions, triangles, ..InlineMesh::default() }
}

/// The implicit solver and the real-time one, and where cases of the latter go.
const SOLVERS: [(SolverKind, &str); 2] =
    [(SolverKind::ImplicitEulerCholesky, ""), (SolverKind::Xpbd, "xpbd/")];

/// Drop over reach of a cantilever under its own weight, Γ = ρ g L³ / B; and the overhang of ASTM D1388.
pub(super) fn cantilever() -> Vec<Case> {
    let formula = "drop over reach at Γ";
    let mut cases = Vec::new();
    for (solver, under) in SOLVERS {
        let of = |gamma: f64| Strip::new(solver, 10.0 * GAMMA_10 / gamma);
        for (gamma, expected) in [(1.0, 0.12456), (10.0, SLOPE_10), (100.0, 5.8881)] {
            let mut strip = of(gamma);
            // As stiff strips as these need smaller steps.
            strip.dt = strip.dt.map(|dt| if gamma < 10.0 { 0.5 * dt } else { dt });
            // 20 cells; at Γ = 100 the strip turns by a right angle within five of them.
            let share = strip.share() + if gamma > 50.0 { 0.02 } else { 0.005 };
            let name = format!("bending/cantilever/{under}gamma={gamma}");
            cases.push(Case::relative(name, formula, expected, strip.slope(), share));
        }
        let strip = of(8.004);
        let degrees = souple::math::atan(strip.slope()).to_degrees();
        // The chord turns by sin 2θ/2 of the relative change of its slope: at most 29° for all of it.
        let tolerance = 0.2 + 29.0 * strip.share();
        let name = format!("bending/cantilever/{under}astm-d1388");
        cases.push(Case::new(name, "chord at 41.5° where Γ = 8.004", 41.5, degrees, tolerance));
    }
    let strip = Strip { dt: None, ..Strip::new(SolverKind::Xpbd, GAMMA_10) };
    let name = "bending/cantilever/xpbd/default step/gamma=10";
    cases.push(Case::relative(name, formula, SLOPE_10, strip.slope(), 0.02));
    cases
}

/// Elastica with a load at its tip, α = P L²/(B b): drop w/L and shortening u/L.
pub(super) fn elastica() -> Vec<Case> {
    let rigidity = 0.01;
    let mut cases = Vec::new();
    for (solver, under) in SOLVERS {
        for (alpha, drop, shortening) in [(1.0, 0.30172, 0.05643), (5.0, 0.71379, 0.38763)] {
            let mut strip = Strip::new(solver, rigidity);
            let width = strip.cell() * f64::from(strip.across);
            strip.load = Load::Tip(alpha * rigidity * width / (LENGTH * LENGTH));
            let end = strip.tip(&strip.at_rest());
            let name = |what: &str| format!("bending/elastica/{under}{what}/alpha={alpha}");
            // The drop goes with α, the shortening with its square.
            let (w, u) = (-end.y / LENGTH, 1.0 - end.x / LENGTH);
            let share = 0.01 + strip.share();
            cases.push(Case::relative(name("drop"), "w/L of the elastica", drop, w, share));
            let formula = "u/L of the elastica";
            cases.push(Case::relative(name("shortening"), formula, shortening, u, 2.0 * share));
        }
    }
    cases
}

/// The cantilever at Γ = 10 on three resolutions and three cuts of the mesh.
pub(super) fn mesh() -> Vec<Case> {
    let bar = 0.02;
    let cuts = [(Cut::Regular, "regular"), (Cut::Alternating, "alternating"), (Cut::Irregular, "irregular")];
    let mut cases = Vec::new();
    for (solver, under) in SOLVERS {
        let resolutions = if solver == SolverKind::Xpbd { [10, 15, 20] } else { [10, 20, 40] };
        let mut all = Vec::new();
        for (cut, name) in cuts {
            for cells in resolutions {
                let mut strip = Strip { cells, across: cells / 5, cut, ..Strip::new(solver, GAMMA_10) };
                strip.fps = 20.0;
                // Cells of half the size need a quarter of the step.
                strip.dt = strip.dt.map(|dt| dt * (20.0 / f64::from(cells)).powi(2));
                let measured = strip.slope() / SLOPE_10 - 1.0;
                all.push(measured);
                let name = format!("bending/mesh/{under}{name}/{cells} cells");
                let formula = "drop over reach at Γ = 10, off by";
                cases.push(Case::new(name, formula, 0.0, measured, bar));
            }
        }
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let name = format!("bending/mesh/{under}spread");
        cases.push(Case::new(name, "largest less smallest of the nine", 0.0, high - low, bar));
    }
    cases
}

/// A strip of L = 12 m, B = E h³/12 = 100 N·m with a moment M = 2π B/L = 50π/3 N·m per metre of width at its end is a
/// full circle.
pub(super) fn roll_up() -> Vec<Case> {
    use std::f64::consts::{PI, TAU};
    let mut cases = Vec::new();
    for (solver, under) in SOLVERS {
        let mut strip = Strip::new(solver, 100.0);
        strip.length = 12.0;
        strip.density = 1.0;
        strip.modulus = 1.2e5;
        strip.cells = 24;
        strip.across = 2;
        strip.load = Load::Nothing;
        strip.dt = strip.dt.map(|_| 1e-3);
        strip.fps = 10.0;
        let omega = strip.omega();
        strip.dissipation = 1.8 * omega;
        let mut s = strip.simulation();
        let moment = TAU * strip.rigidity / strip.length;
        let (ramp, end) = ((10.0 / omega * strip.fps) as u32, (30.0 / omega * strip.fps) as u32);
        for step in 0..end {
            let share = f64::min(1.0, f64::from(step) / f64::from(ramp));
            couple(&mut s, &strip, share * moment);
            s.step();
        }
        let x = &s.state().bodies[0].x;
        let along = strip.mean_of_column(x, 0) - strip.mean_of_column(x, 1);
        // From half a turn to one and a half.
        let turned = (souple::math::atan2(along.y, along.x) + PI).rem_euclid(TAU) + PI;
        // A joint between two cells has the energy ½ (B/a) (2 sin θ/2)², so sin θ = M a/B and not θ: a circle of n joints turns
        // by a share of (2π/n)²/6 too much. Then as for every strip. The last cell is half a cell before the end.
        let n = strip.length / strip.cell();
        let share = (TAU / n).powi(2) / 6.0 + 0.005 + strip.share();
        let expected = TAU * (1.0 - 0.5 / n);
        let name = |what: &str| format!("bending/roll-up/{under}{what}");
        cases.push(Case::relative(name("turn"), "M L/B = 2π, less half a cell", expected, turned, share));
        let gap = strip.tip(&s).truncate().length() / strip.length;
        cases.push(Case::new(name("gap"), "from tip to wall, of the length", 0.0, gap, share));
    }
    cases
}

/// Turns the end of a strip by a moment per width about z, N: forces on the vertices of the last two columns, by hands that are
/// far away and soft.
///
/// Forces f = w a × r, r from the middle and J a = M, are that moment and nothing else however the end leans. Forces across
/// the last cell alone would push a leaning end on: with the torsional rigidity 2 B of a plate, the strip then leaves its
/// plane beyond 4.74 rad, where cos θ − cos(θ/√2) = 1.
fn couple(s: &mut Simulation, strip: &Strip, moment: f64) {
    const STIFFNESS: f64 = 1e-2;
    let x = &s.state().bodies[0].x;
    let width = f64::from(strip.across) * strip.cell();
    // The last two of each row, with the share of the width that is nearest.
    let last = |row: u32| (row + 1) * strip.columns() - 1;
    let share = |row: u32| if row == 0 || row == strip.across { 0.5 } else { 1.0 } / f64::from(strip.across);
    let held: Vec<(u32, f64)> =
        (0..=strip.across).flat_map(|row| [(last(row), share(row)), (last(row) - 1, share(row))]).collect();
    let at = |v: u32| x[v as usize];
    let middle = held.iter().map(|&(v, w)| at(v) * (0.5 * w)).sum::<DVec3>();
    let mut inertia = DMat3::ZERO;
    for &(v, w) in &held {
        let r = at(v) - middle;
        let products = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        inertia += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - products) * w;
    }
    let turn = inertia.inverse() * DVec3::new(0.0, 0.0, moment * width);
    let hands: Vec<Command> = held
        .iter()
        .map(|&(vertex, w)| {
            let force = turn.cross(at(vertex) - middle) * w;
            let target = (at(vertex) + force / STIFFNESS).to_array();
            Command::Grab { body: "strip".into(), vertex, target, stiffness: STIFFNESS }
        })
        .collect();
    for hand in hands {
        if let Err(error) = s.command(hand) {
            unreachable!("the hands of a verification case are wrong: {error}");
        }
    }
}

/// First bending frequency of a clamped beam: (1.87510²/2π) √(E I/(ρ A L⁴)).
pub(super) fn frequency() -> Vec<Case> {
    let mut cases = Vec::new();
    for (solver, dt) in [(SolverKind::Verlet, 1e-4), (SolverKind::Xpbd, SMALL)] {
        let mut strip = Strip::new(solver, GAMMA_10);
        strip.modulus = 500.0;
        strip.load = Load::Nothing;
        strip.dissipation = 0.0;
        strip.dt = Some(dt);
        strip.fps = 1000.0;
        let mut s = strip.simulation();
        // It begins with the velocities of its first mode, a thousandth of its length wide.
        let (beta, sigma) = (1.87510 / strip.length, 0.734096);
        let mode = |x: f64| {
            let z = beta * x.max(0.0);
            0.5 * (z.cosh() - z.cos() - sigma * (z.sinh() - z.sin()))
        };
        let body = &mut s.state_mut().bodies[0];
        for (v, x) in body.v.iter_mut().zip(&body.x) {
            v.y = if x.x > strip.cell() { 1e-3 * strip.length * strip.omega() * mode(x.x) } else { 0.0 };
        }
        // Half a period between the first two times that the tip is level again.
        let mut crossings = Vec::new();
        let mut before = 0.0;
        while crossings.len() < 2 && s.state().time < 5.0 {
            s.step();
            let now = strip.tip(&s).y;
            if before * now < 0.0 {
                crossings.push(s.state().time - now / (now - before) / strip.fps);
            }
            before = now;
        }
        let measured = match crossings[..] {
            [first, second] => 0.5 / (second - first),
            _ => f64::NAN,
        };
        let expected = strip.omega() / std::f64::consts::TAU;
        let name = format!("bending/frequency/{}", solver_name(solver));
        // 20 cells, as for the cantilever; the frequency goes with the root of the rigidity.
        let share = 0.005 + 0.5 * strip.softening();
        let formula = "(1.87510²/2π) √(E I/(ρ A L⁴))";
        cases.push(Case::relative(name, formula, expected, measured, share));
    }
    cases
}
