//! Skins that keep their volume (ROH-20…43, 51…59, 62, 67, 69): after bones have moved a skin, what each joint has lost comes back as bulges beside it.
//!
//! Each connected piece of a mesh keeps its own volume: that of where it was bound, with its morphs, times what the first of its bones is scaled by.
//! What a joint has lost is told by `skin/joints.rs`, where the skin gives way by `skin/bulge.rs`, and the displacements of all
//! joints at once by `skin/volume.rs`. Vertices at one place that are moved alike stay together. If it is asked for, the area is brought back as well
//! (`skin/area.rs`), and parts that run into each other are brought apart (`skin/apart.rs`); the volume is met again after each.
//!
//! Promised: the volume that is wanted, to rounding, with `exact` and `three_passes`, as long as bulges stay below half the size of a piece; a skin
//! that is not bent keeps its bits; the order of joints does not matter but with `three_passes`. Pieces that are open by more than half of their
//! area have no inside, and are left alone unless `close_open` says otherwise.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::apart::Parts;
use super::area::{
    area_and_gradient, curvature, displace, ease_all, ease_of_joints, own_area, refill, turns_over,
};
use super::bulge::{BulgeSource, JointPlace, joint_places};
use super::character::MapModel;
use super::crumpled::{Neighbours, smooth};
use super::joints::{Bend, Crossing, JointParts, JointTree, Measured};
use super::pieces::{Bound, Piece, pieces};
use super::rig::{CompiledRig, SkinMesh};
use super::skinning::{BoneMotion, skin};
use super::volume::{Yielding, three_passes};
use crate::math::{cbrt, polar};
use crate::scene::{JointBulge, SkinVolume, Skinning, VolumeMethod};

/// Pieces with lids of more than this share of their own area have no inside.
const WIDEST_LIDS: f64 = 0.5;

/// Largest displacement, sizes of the piece.
const LARGEST_BULGE: f64 = 0.5;

/// The exact method goes on until the volume is met to this share, in at most so many rounds; the first is enough but for odd bulges.
const MET: f64 = 1e-14;
const ROUNDS: usize = 4;

/// Rounds in which parts that run into each other are brought apart, and then in which what is still crumpled is made smooth.
const ROUNDS_APART: usize = 6;
const ROUNDS_SMOOTH: usize = 24;

/// How often the area is kept and parts are brought apart, in turn, as each moves what the other has done a little; and the share of the area that is none.
const ROUNDS_OF_BOTH: usize = 6;
const SAME_AREA: f64 = 1e-10;

/// Passes that smooth the curvature that the area is brought back by.
const SMOOTHED: usize = 20;

/// Steps towards a wanted area that are tried, each this share of the one before, until one leads there by half of what it should.
const SHORTER: usize = 12;
const SHORTEN: f64 = 0.75;

/// What keeps the volume of the skins of a rig.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeKeeper {
    /// What was asked for.
    pub written: SkinVolume,
    /// What of the skin is open, and what became of it.
    pub open: OpenSkin,
    trees: Vec<Arc<JointTree>>,
    places: Vec<Vec<JointPlace>>,
    pieces: Vec<Piece>,
}

/// What of a skin is open: its volume is that up to lids, fans from the mean of each border.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpenSkin {
    /// Borders that are closed so, of pieces that keep their volume.
    pub borders: usize,
    /// Vertices of pieces that joints bend, but that have no inside.
    pub left_alone: usize,
    /// What those would hold if they were closed so, cubes of the file's lengths.
    pub left_volume: f64,
}

/// Volumes of all pieces, of the file's lengths: where they were bound, as bones moved them, and as they are. Those that face inwards count
/// as well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeptVolume {
    /// What it would be if no joint were bent.
    pub rest: f64,
    /// By skinning alone.
    pub skinned: f64,
    /// That was wanted.
    pub wanted: f64,
    /// That has been reached.
    pub kept: f64,
    /// Areas, if the area is kept.
    pub area: KeptArea,
}

/// Areas of all pieces, of the file's lengths, as [`KeptVolume`] has volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeptArea {
    /// What it would be if no joint were bent: that is wanted.
    pub rest: f64,
    /// By skinning alone.
    pub skinned: f64,
    /// As it is.
    pub kept: f64,
}

/// What a joint does to the volume of a skin, cubes of the file's lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointVolume {
    /// The bone that turns.
    pub node: u32,
    /// What bending it changes the volume by; negative is a loss.
    pub changed: f64,
    /// What its bulge is to give back.
    pub given: f64,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeeperScratch {
    x: Vec<DVec3>,
    bound: Bound,
    gradient: Vec<DVec3>,
    displacements: Vec<DVec3>,
    local: Vec<DVec3>,
    bends: Vec<Vec<Bend>>,
    measured: Measured,
    shares: Vec<f64>,
    yielding: Vec<Yielding>,
    unbent: Vec<BoneMotion>,
    of_area: Vec<DVec3>,
    ease: Vec<DMat3>,
    before: Vec<DVec3>,
    free: Vec<f64>,
    around: Vec<Yielding>,
    /// What each joint of the last pose did, by node.
    pub joints: Vec<JointVolume>,
}

/// Where a skin is to be brought to keep its volume.
#[derive(Clone, Copy, Debug)]
pub struct Pose<'a> {
    /// Its rig.
    pub rig: &'a CompiledRig,
    /// How bones have moved it.
    pub skinning: Skinning,
    /// How much of its morphs is added.
    pub morphs: &'a [f64],
    /// How the bones of each set have moved.
    pub motions: &'a [Vec<BoneMotion>],
}

impl VolumeKeeper {
    /// For a rig on which nothing is painted.
    pub fn new(rig: &CompiledRig, written: &SkinVolume) -> VolumeKeeper {
        VolumeKeeper::painted(rig, written, &[])
    }

    /// For a rig, with what is painted on it. Joints whose map is not there, or not on their mesh, give way nowhere.
    pub fn painted(rig: &CompiledRig, written: &SkinVolume, maps: &[MapModel]) -> VolumeKeeper {
        let trees: Vec<Arc<JointTree>> =
            rig.bindings.iter().map(|bones| Arc::new(JointTree::new(&rig.skeleton, bones))).collect();
        let places: Vec<Vec<JointPlace>> =
            trees.iter().zip(&rig.bindings).map(|(tree, bones)| joint_places(tree, bones)).collect();
        let mut keeper = VolumeKeeper {
            written: written.clone(),
            open: OpenSkin::default(),
            trees,
            places,
            pieces: Vec::new(),
        };
        let others = JointBulge::default();
        for (m, mesh) in rig.meshes.iter().enumerate() {
            let (tree, places) = (&keeper.trees[mesh.binding], &keeper.places[mesh.binding]);
            for mut piece in pieces(m, mesh) {
                let Some(parts) = JointParts::new(tree, &piece.surface, mesh, &piece.kept) else {
                    keeper.open.left_alone += piece.members.len();
                    continue;
                };
                piece.parts = parts;
                let mut bound = Bound::default();
                piece.bind(mesh, &[], tree, &mut bound, &mut Vec::new());
                if piece.parts.crossings.is_empty() {
                    // Carried whole.
                    continue;
                }
                let widest = if written.close_open { f64::INFINITY } else { WIDEST_LIDS };
                if !piece.surface.has_inside(&bound.places, piece.size, widest) {
                    keeper.open.left_alone += piece.members.len();
                    keeper.open.left_volume += bound.measured.volume.abs();
                    continue;
                }
                keeper.open.borders += piece.surface.borders().count();
                piece.facing = bound.measured.volume.signum();
                let areas = piece.surface.vertex_areas(&bound.places);
                if stays_apart(written) {
                    let mut normals = Vec::new();
                    piece.surface.volume_and_gradient(&bound.places, &mut normals, |_, _, _| ());
                    normals.iter_mut().for_each(|n| *n *= piece.facing);
                    piece.apart = Parts::new(tree, places, mesh, &piece.kept, &bound.places, &normals);
                    piece.neighbours = Neighbours::new(&piece.surface);
                    piece.areas.clone_from(&areas);
                }
                piece.bound = bound;
                let source =
                    BulgeSource { tree, places, mesh, kept: &piece.kept, areas: &areas, painted: None };
                for crossing in &piece.parts.crossings {
                    let name =
                        &rig.skeleton.names[rig.bindings[mesh.binding][crossing.bone as usize].0 as usize];
                    let named = written.joints.iter().find(|joint| joint.bones.contains(name));
                    let joint = named.or_else(|| written.joints.iter().find(|joint| joint.bones.is_empty()));
                    let joint = joint.unwrap_or(&others);
                    let (preset, gain) =
                        (joint.preset.unwrap_or(written.preset), joint.gain.unwrap_or(written.gain));
                    let map = joint.map.as_ref().map(|name| maps.iter().find(|map| map.name == *name));
                    let painted = map.map(|map| map.map_or(&[][..], |map| &map.values[m]));
                    let source = BulgeSource { painted, ..source };
                    piece.bulges.push(source.bulge(crossing, joint, preset, gain));
                }
                keeper.pieces.push(piece);
            }
        }
        keeper
    }

    /// Whether it has nothing to do: no piece has an inside and a joint that bends it.
    pub fn is_idle(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Moves the places of all vertices of all meshes, which are those of skinning, to keep volumes.
    pub fn keep(&self, pose: &Pose, places: &mut [Vec<DVec3>], scratch: &mut KeeperScratch) -> KeptVolume {
        scratch.bends.resize_with(self.trees.len(), Vec::new);
        for ((tree, motions), bends) in self.trees.iter().zip(pose.motions).zip(&mut scratch.bends) {
            tree.bends(motions, bends);
        }
        scratch.joints.clear();
        let mut sum = KeptVolume::default();
        for piece in &self.pieces {
            let binding = pose.rig.meshes[piece.mesh].binding;
            let found = piece.keep(
                self,
                pose,
                &self.trees[binding],
                &self.places[binding],
                &mut places[piece.mesh],
                scratch,
            );
            sum.rest += piece.facing * found.rest;
            sum.skinned += piece.facing * found.skinned;
            sum.wanted += piece.facing * found.wanted;
            sum.kept += piece.facing * found.kept;
            sum.area.rest += found.area.rest;
            sum.area.skinned += found.area.skinned;
            sum.area.kept += found.area.kept;
        }
        // Joints of several pieces are one.
        scratch.joints.sort_by_key(|joint| joint.node);
        scratch.joints.dedup_by(|next, first| {
            let same = next.node == first.node;
            if same {
                first.changed += next.changed;
                first.given += next.given;
            }
            same
        });
        sum
    }
}

impl VolumeKeeper {
    /// How much the vertices of all meshes give way, without what depends on the pose: the largest over joints, of which each has 1 at most (ROH-42).
    pub fn gammas(&self, rig: &CompiledRig) -> Vec<Vec<f64>> {
        let mut gammas: Vec<Vec<f64>> =
            rig.meshes.iter().map(|mesh| vec![0.0; mesh.mesh.positions.len()]).collect();
        for piece in &self.pieces {
            let areas = piece.surface.vertex_areas(&piece.bound.places);
            let mut own = vec![0.0; piece.surface.places()];
            for bulge in piece.bulges.iter().filter(|bulge| bulge.gain > 0.0) {
                bulge
                    .relative_gamma(&areas)
                    .for_each(|(v, gamma)| own[v as usize] = gamma.max(own[v as usize]));
            }
            for &(theirs, ours) in &piece.members {
                gammas[piece.mesh][theirs as usize] = own[ours as usize];
            }
        }
        gammas
    }

    /// Volume inside all pieces, from the places of all vertices of all meshes; those that face inwards count as well.
    pub fn volume(&self, places: &[Vec<DVec3>]) -> f64 {
        let of = |piece: &Piece| {
            let mut x: Vec<DVec3> = piece.kept.iter().map(|&v| places[piece.mesh][v as usize]).collect();
            x.resize(piece.surface.places(), DVec3::ZERO);
            piece.surface.place_lids(&mut x);
            piece.facing * piece.surface.volume(&x)
        };
        self.pieces.iter().map(of).sum()
    }
}

impl Piece {
    fn keep(
        &self,
        keeper: &VolumeKeeper,
        pose: &Pose,
        tree: &JointTree,
        joints: &[JointPlace],
        places: &mut [DVec3],
        scratch: &mut KeeperScratch,
    ) -> KeptVolume {
        let mesh = &pose.rig.meshes[self.mesh];
        let motions = &pose.motions[mesh.binding];
        let KeeperScratch { x, bound, gradient, displacements, measured, .. } = scratch;
        let mut volume = self.bound.measured.volume;
        if !mesh.morphs.is_empty() {
            self.bind(mesh, pose.morphs, tree, bound, gradient);
            volume = bound.measured.volume;
        }
        x.clear();
        x.extend(self.kept.iter().map(|&v| places[v as usize]));
        x.resize(self.surface.places(), DVec3::ZERO);
        self.surface.place_lids(x);
        // The first bone carries all others: what it is scaled by changes no shape.
        let grown =
            tree.order.first().map_or(1.0, |&root| motions[root as usize].matrix.matrix3.determinant());
        let unbent = grown * volume;
        self.parts.measure(tree, &self.surface, x, gradient, measured);
        let skinned = measured.volume;
        displacements.clear();
        displacements.resize(self.surface.places(), DVec3::ZERO);
        let area = match keeper.written.area_rounds {
            0 => KeptArea::default(),
            _ => {
                let bound = if mesh.morphs.is_empty() { &self.bound } else { &*bound };
                let skinned = own_area(&self.surface, x);
                let root = cbrt(grown.abs());
                let rest = root * root * own_area(&self.surface, &bound.places);
                KeptArea { rest, skinned, kept: skinned }
            }
        };
        let still = KeptVolume { rest: unbent, skinned, wanted: skinned, kept: skinned, area };
        if !self.share(keeper, pose, tree, joints, grown, &still, scratch) {
            return still;
        }
        let wanted = skinned + scratch.shares.iter().sum::<f64>();
        let largest = LARGEST_BULGE * self.size * cbrt(grown.abs());
        let has_morphs = !mesh.morphs.is_empty();
        let is_folded = stays_apart(&keeper.written) && self.part_first(mesh, tree, motions, scratch);
        let now = if is_folded { self.surface.volume(&scratch.x) } else { skinned };
        let mut kept = match keeper.written.method {
            VolumeMethod::OnePass => self.one_pass(largest, scratch),
            VolumeMethod::Exact => {
                let next = if is_folded { now + scratch.shares.iter().sum::<f64>() } else { wanted };
                self.exact(now, next, largest, scratch)
            }
            VolumeMethod::ThreePasses => self.three_passes(
                &scratch.bends[mesh.binding],
                &scratch.shares,
                &scratch.yielding,
                &mut scratch.x,
            ),
        };
        let mut result = KeptVolume { wanted, ..still };
        if is_folded {
            self.yield_all_around(scratch);
            kept = self.meet(kept, wanted, largest, scratch);
        }
        if keeper.written.area_rounds > 0 {
            for _ in 0..ROUNDS_OF_BOTH {
                kept = self.keep_area(keeper.written.area_rounds, &mut result, kept, largest, scratch);
                let reached = result.area.kept;
                kept = self.keep_apart(motions, has_morphs, wanted, kept, largest, scratch);
                result.area.kept = own_area(&self.surface, &scratch.x);
                if (result.area.kept - reached).abs() <= SAME_AREA * result.area.rest {
                    break;
                }
            }
        } else if keeper.written.avoid_crossing {
            kept = self.keep_apart(motions, has_morphs, wanted, kept, largest, scratch);
        }
        if !scratch.x.iter().all(|x| x.is_finite()) {
            return still;
        }
        for &(theirs, ours) in &self.members {
            places[theirs as usize] = scratch.x[ours as usize];
        }
        KeptVolume { kept, ..result }
    }

    /// What each joint has to give back, and how the surface gives way to it; whether any has to.
    fn share(
        &self,
        keeper: &VolumeKeeper,
        pose: &Pose,
        tree: &JointTree,
        joints: &[JointPlace],
        grown: f64,
        now: &KeptVolume,
        scratch: &mut KeeperScratch,
    ) -> bool {
        let mesh = &pose.rig.meshes[self.mesh];
        let motions = &pose.motions[mesh.binding];
        let KeeperScratch {
            x, bound, local, bends, measured, shares, yielding, unbent, joints: told, ..
        } = scratch;
        let bound = if mesh.morphs.is_empty() { &self.bound } else { &*bound };
        let rest = &bound.places;
        let bends = &bends[mesh.binding];
        shares.clear();
        for crossing in &self.parts.crossings {
            let (bone, bend) = (crossing.bone as usize, &bends[crossing.bone as usize]);
            if bend.straight {
                shares.push(0.0);
                continue;
            }
            let centre = joints[bone].centre;
            let alone = crossing.alone(bend, pose.skinning, rest, &bound.measured, centre, local);
            if keeper.written.method == VolumeMethod::OnePass {
                shares.push(-grown * alone);
                continue;
            }
            let influences = |v: u32| mesh.influences(self.kept[v as usize] as usize);
            let last = if pose.skinning == Skinning::DualQuaternion {
                unbent.clone_from(motions);
                for &carried in &crossing.carried {
                    let back = bend.undo * motions[carried as usize].matrix;
                    unbent[carried as usize] = BoneMotion::new(back, pose.skinning);
                }
                let place = |v: u32| skin(rest[v as usize], influences(v), unbent, pose.skinning);
                crossing.last(bend, x, place, measured, centre, local)
            } else {
                let place = |v: u32| {
                    let (mut inside, mut weight, mut outside) = (DVec3::ZERO, 0.0, DVec3::ZERO);
                    for &(other, w) in influences(v) {
                        let part = w * motions[other as usize].matrix.transform_point3(rest[v as usize]);
                        if tree.carries(crossing.bone, other) {
                            inside += part;
                            weight += w;
                        } else {
                            outside += part;
                        }
                    }
                    outside + bend.undo.matrix3 * inside + weight * bend.undo.translation
                };
                crossing.last(bend, x, place, measured, centre, local)
            };
            shares.push(-0.5 * (grown * alone + last));
        }
        let all: f64 = shares.iter().map(|share| share.abs()).sum();
        let extra = (keeper.written.target - 1.0) * now.rest;
        if !all.is_finite() || (all == 0.0 && extra == 0.0) {
            return false;
        }
        // Where three joints act on one place, some is left.
        let left = now.rest - now.skinned - shares.iter().sum::<f64>();
        let sizes: f64 = self.bulges.iter().map(|bulge| bulge.size).sum();
        yielding.resize_with(yielding.len().max(shares.len()), Yielding::default);
        for (((share, bulge), crossing), yielding) in
            shares.iter_mut().zip(&self.bulges).zip(&self.parts.crossings).zip(yielding)
        {
            if all > 0.0 {
                *share += left * share.abs() / all;
            }
            let lost = *share;
            *share *= bulge.gain;
            if sizes > 0.0 {
                *share += extra * bulge.size / sizes;
            }
            if lost != 0.0 || *share != 0.0 {
                let node = pose.rig.bindings[mesh.binding][crossing.bone as usize].0;
                told.push(JointVolume { node, changed: -self.facing * lost, given: self.facing * *share });
            }
            if *share != 0.0 {
                bulge.yielding(&bends[crossing.bone as usize], yielding);
            }
        }
        shares.iter().any(|share| *share != 0.0)
    }

    /// Displacements of all joints at once, at most `largest`; of shares, or of what they are without sign.
    fn displace(&self, unsigned: bool, largest: f64, scratch: &mut KeeperScratch) {
        let KeeperScratch { gradient, displacements, shares, yielding, .. } = scratch;
        displacements.iter_mut().for_each(|u| *u = DVec3::ZERO);
        for (share, yielding) in shares.iter().zip(yielding).filter(|(share, _)| **share != 0.0) {
            let gain = if unsigned { share.abs() } else { *share };
            yielding.add_displacements(gradient, gain, displacements);
        }
        let most = displacements.iter().fold(0.0, |most: f64, u| most.max(u.length_squared())).sqrt();
        if most > largest {
            displacements.iter_mut().for_each(|u| *u *= largest / most);
        }
        self.surface.place_lids(displacements);
    }

    fn one_pass(&self, largest: f64, scratch: &mut KeeperScratch) -> f64 {
        self.displace(false, largest, scratch);
        scratch.add(1.0);
        self.surface.volume(&scratch.x)
    }

    fn exact(&self, skinned: f64, wanted: f64, largest: f64, scratch: &mut KeeperScratch) -> f64 {
        let mut volume = skinned;
        for _ in 0..ROUNDS {
            self.displace(false, largest, scratch);
            let mut cubic = self.surface.cubic(&scratch.x, &scratch.displacements);
            let of = |sign: f64| scratch.shares.iter().any(|share| sign * share > 0.0);
            if of(1.0) && of(-1.0) {
                // Gains and losses may cancel: they are done as they are, and what then is missing goes to all, without their signs.
                scratch.add(1.0);
                volume += cubic.at(1.0);
                self.displace(true, largest, scratch);
                cubic = self.surface.cubic(&scratch.x, &scratch.displacements);
            }
            let step = cubic.reach(wanted - volume);
            scratch.add(step);
            volume += cubic.at(step);
            let missing = wanted - volume;
            if missing.abs() <= MET * wanted.abs() {
                break;
            }
            let all: f64 = scratch.shares.iter().map(|share| share.abs()).sum();
            scratch.shares.iter_mut().for_each(|share| *share = missing * share.abs() / all);
            self.surface.volume_and_gradient(&scratch.x, &mut scratch.gradient, |_, _, _| ());
        }
        volume
    }

    /// Goes on from a volume to the one that is wanted, with what is missing shared as before.
    fn meet(&self, volume: f64, wanted: f64, largest: f64, scratch: &mut KeeperScratch) -> f64 {
        let missing = wanted - volume;
        let all: f64 = scratch.shares.iter().map(|share| share.abs()).sum();
        if missing.abs() <= MET * wanted.abs() || !(missing / all).is_finite() {
            return volume;
        }
        scratch.shares.iter_mut().for_each(|share| *share = missing * share.abs() / all);
        self.surface.volume_and_gradient(&scratch.x, &mut scratch.gradient, |_, _, _| ());
        self.exact(volume, wanted, largest, scratch)
    }

    /// Brings the area to what it was where the piece was bound, in rounds, where the volume has been brought back (ROH-67); the volume that is reached.
    fn keep_area(
        &self,
        rounds: u32,
        result: &mut KeptVolume,
        mut volume: f64,
        largest: f64,
        scratch: &mut KeeperScratch,
    ) -> f64 {
        let wanted = [result.wanted, result.area.rest];
        result.area.kept = own_area(&self.surface, &scratch.x);
        // Where joints give way as long as that leads there at once; then all of the skin, evenly.
        let mut evenly = false;
        for _ in 0..rounds {
            let found = area_and_gradient(&self.surface, &scratch.x, &mut scratch.of_area);
            let mut reached = None;
            while reached.is_none() {
                self.surface.volume_and_gradient(&scratch.x, &mut scratch.gradient, |_, _, _| ());
                let KeeperScratch { x, gradient, of_area, ease, shares, yielding, displacements, .. } =
                    &mut *scratch;
                match evenly {
                    true => ease_all(&self.surface, x, ease),
                    false => ease_of_joints(self.surface.places(), shares, yielding, gradient, ease),
                }
                let missing = [wanted[0] - volume, wanted[1] - found];
                let h = curvature(&self.surface, x, gradient, of_area, SMOOTHED);
                if displace(ease, gradient, of_area, &h, missing, displacements) {
                    reached = self.step_to_area(found, wanted, evenly, largest, scratch);
                }
                if evenly {
                    break;
                }
                evenly = reached.is_none();
            }
            let Some([met, area]) = reached else { break };
            (volume, result.area.kept) = (met, area);
        }
        volume
    }

    /// Goes towards a wanted volume and area along displacements; what is reached, nothing if no step leads there without turning a triangle over.
    fn step_to_area(
        &self,
        found: f64,
        [wanted, wanted_area]: [f64; 2],
        evenly: bool,
        largest: f64,
        scratch: &mut KeeperScratch,
    ) -> Option<[f64; 2]> {
        let most = scratch.displacements.iter().fold(0.0, |most: f64, u| most.max(u.length_squared())).sqrt();
        let mut step = if most > largest { largest / most } else { 1.0 };
        scratch.before.clone_from(&scratch.x);
        self.surface.place_lids(&mut scratch.displacements);
        for _ in 0..if evenly { SHORTER } else { 1 } {
            scratch.add(step);
            let (shares, displacements) = (scratch.shares.clone(), scratch.displacements.clone());
            if evenly {
                refill(&self.surface, &scratch.ease, wanted, &mut scratch.x, &mut scratch.gradient);
            }
            let met = self.meet(self.surface.volume(&scratch.x), wanted, largest, scratch);
            let reached = own_area(&self.surface, &scratch.x);
            let is_nearer = (reached - wanted_area).abs() < (1.0 - 0.5 * step) * (found - wanted_area).abs();
            if is_nearer && !turns_over(&self.surface, &scratch.before, &scratch.x) {
                return Some([met, reached]);
            }
            scratch.x.clone_from(&scratch.before);
            (scratch.shares, scratch.displacements) = (shares, displacements);
            step *= SHORTEN;
        }
        None
    }

    /// Brings parts that skinning has run into each other apart, before the volume is brought back, so that it is where a skin has folded; false if none are near.
    fn part_first(
        &self,
        mesh: &SkinMesh,
        tree: &JointTree,
        motions: &[BoneMotion],
        scratch: &mut KeeperScratch,
    ) -> bool {
        let KeeperScratch { x, bound, free, yielding, around, shares, gradient, .. } = &mut *scratch;
        free.clear();
        free.resize(self.surface.places(), 1.0);
        around.clear();
        for ((share, crossing), own) in shares.iter().zip(&self.parts.crossings).zip(&*yielding) {
            around.push(match *share {
                0.0 => Yielding::default(),
                _ => self.all_around(mesh, tree, crossing, own),
            });
        }
        let rest = if mesh.morphs.is_empty() { &self.bound.places } else { &bound.places };
        self.apart.part(motions, rest, x, free);
        if free.iter().all(|free| *free == 1.0) {
            return false;
        }
        self.surface.place_lids(x);
        self.surface.volume_and_gradient(x, gradient, |_, _, _| ());
        for (share, yielding) in shares.iter_mut().zip(yielding).filter(|(share, _)| **share != 0.0) {
            let full = yielding.capacity(gradient);
            yielding.gamma.iter_mut().for_each(|(v, gamma)| *gamma *= free[*v as usize]);
            // A bulge goes no further than if nothing were in its way; the rest is left to what is around it.
            *share *= if full > 0.0 { yielding.capacity(gradient) / full } else { 0.0 };
        }
        true
    }

    /// Has joints give way all around, but where parts touch.
    fn yield_all_around(&self, scratch: &mut KeeperScratch) {
        let KeeperScratch { free, yielding, around, shares, gradient, .. } = scratch;
        for ((share, yielding), around) in shares.iter_mut().zip(yielding).zip(around) {
            yielding.clone_from(around);
            yielding.gamma.iter_mut().for_each(|(v, gamma)| *gamma *= free[*v as usize]);
            // What has nothing left that gives way leaves it to others.
            if yielding.capacity(gradient) <= 0.0 {
                *share = 0.0;
            }
        }
    }

    /// Brings parts that run into each other apart, and the volume back by what is free (ROH-62); the volume that is reached.
    fn keep_apart(
        &self,
        motions: &[BoneMotion],
        has_morphs: bool,
        wanted: f64,
        mut volume: f64,
        largest: f64,
        scratch: &mut KeeperScratch,
    ) -> f64 {
        for _ in 0..ROUNDS_APART {
            let KeeperScratch { x, bound, free, gradient, .. } = &mut *scratch;
            let rest = if has_morphs { &bound.places } else { &self.bound.places };
            if self.apart.part(motions, rest, x, free) == 0 {
                break;
            }
            self.surface.place_lids(x);
            volume = self.surface.volume_and_gradient(x, gradient, |_, _, _| ());
            self.yield_all_around(scratch);
            volume = self.meet(volume, wanted, largest, scratch);
        }
        for _ in 0..ROUNDS_SMOOTH {
            let KeeperScratch { x, free, gradient, .. } = &mut *scratch;
            if !smooth(&self.surface, &self.neighbours, x, free) {
                break;
            }
            self.surface.place_lids(x);
            volume = self.surface.volume_and_gradient(x, gradient, |_, _, _| ());
            self.yield_all_around(scratch);
            volume = self.meet(volume, wanted, largest, scratch);
        }
        volume
    }

    /// How a joint gives way to what is pushed into it: as it does to what it has lost, and all over its two bones, along normals.
    fn all_around(&self, mesh: &SkinMesh, tree: &JointTree, crossing: &Crossing, own: &Yielding) -> Yielding {
        let bones = [Some(crossing.bone), tree.parents[crossing.bone as usize]];
        let everywhere = |(v, kept): (u32, &u32)| {
            let influences = mesh.influences(*kept as usize).iter();
            let weight: f64 = influences.filter(|i| bones.contains(&Some(i.0))).map(|i| i.1).sum();
            (v, weight / self.areas[v as usize])
        };
        let even = (0u32..).zip(&self.kept).map(everywhere);
        let even = even.filter(|(_, gamma)| *gamma > 0.0 && gamma.is_finite());
        let mut gamma: Vec<(u32, f64)> = own.gamma.iter().copied().chain(even).collect();
        gamma.sort_by_key(|(v, _)| *v);
        gamma.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        Yielding { gamma, ease: DMat3::IDENTITY }
    }

    fn three_passes(&self, bends: &[Bend], shares: &[f64], yielding: &[Yielding], x: &mut [DVec3]) -> f64 {
        for (((crossing, bulge), share), yielding) in
            self.parts.crossings.iter().zip(&self.bulges).zip(shares).zip(yielding)
        {
            if *share != 0.0 {
                let bend = &bends[crossing.bone as usize];
                let axes: DMat3 = polar(bend.carrier.matrix3) * bulge.axes(bend);
                three_passes(&self.surface, x, &yielding.gamma, &axes, bulge.shares(), *share);
            }
        }
        self.surface.volume(x)
    }
}

impl KeeperScratch {
    fn add(&mut self, step: f64) {
        self.x.iter_mut().zip(&self.displacements).for_each(|(x, u)| *x += step * *u);
    }
}

/// Whether parts that run into each other are brought apart: where that is asked for, and where the area is kept, as a crease that crosses itself has an area that cannot be kept.
fn stays_apart(written: &SkinVolume) -> bool {
    written.avoid_crossing || written.area_rounds > 0
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
