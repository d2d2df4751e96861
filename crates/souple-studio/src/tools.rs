//! Hands: what the pointer does becomes commands, a selection, another camera (ESSI-06…12, ESSI-29).
//!
//! A pure state machine: pointer events in pixels of the picture go in, with the camera and the moment that are on the
//! screen; what is to be done comes out. Nothing here draws or sends.
//!
//! In every tool the middle or right button pans, the wheel comes closer to what is under the pointer, and Alt with the
//! left button orbits. The left button does the rest:
//!
//! | tool | plain | Ctrl | Shift | Ctrl+Shift |
//! |---|---|---|---|---|
//! | View | orbits, on a mark of paper drags it; a click tells what was hit | pulls a vertex or moves a collider | click: adds or removes a vertex; drag: adds a box | removes a box |
//! | Select | a box, or a vertex, instead of the selection | removes | as in View | removes |
//! | Move | drags the gizmo; elsewhere orbits | pulls | as in View | as in View |
//! | Scissors | cuts | cuts | cuts | cuts |
//! | Fan | blows | blows | blows | blows |
//! | Paint | paints on the skin of a character; elsewhere orbits | erases | softens | erases |
//!
//! A pull is a spring between the vertex and a point that follows the pointer in the plane through the vertex that faces
//! the camera. Its stiffness goes with the mass of the body, so that a handkerchief and a sail feel alike. The gizmo
//! anchors vertices while it moves them and frees those that were free before; supports of a pin set move as a set.
//! While the person looks at the past ([`Seen::live`] is false), only the view and the selection change.

use std::collections::{BTreeMap, BTreeSet};

use glam::{Vec2, Vec3};
use souple::{Command, MAX_SELECTION, PinnedVertex};
use souple_viewer::pick::{Hit, pick, pick_vertex, vertices_in_box};
use souple_viewer::{Camera, Item, ItemKind, Marks, Moment};

use crate::bone_hand::BoneHold;
use crate::gizmo::{Gizmo, Handle, Moved, moved_part};
use crate::marks;
use crate::painting::{Brush, Dab, Stroke, dab_at, dabs_between};
use crate::paper_hand::{PaperHold, body_near, take_mark, take_near};
use crate::scissors::{cut, piece_pixels};
use crate::sight::{fitted, on_plane, see_all, zoomed};
use crate::worker::Shown;

/// A press that moves less than this is a click, pixels.
const CLICK_PIXELS: f32 = 4.0;
/// How far a click may be from a vertex beside the surface, pixels.
const VERTEX_PIXELS: f32 = 12.0;
/// Stiffness of a pull over the mass of the body, 1/s²: the body as a whole swings about twice a second on it.
const PULL_RATE: f64 = 200.0;
/// Where the fan stands between the camera (0) and what it points at (1).
const FAN_PLACE: f32 = 0.5;

/// A tool for the left button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Turns the view; with Ctrl pulls.
    #[default]
    View,
    /// Selects vertices.
    Select,
    /// Moves the selection.
    Move,
    /// Cuts.
    Scissors,
    /// Blows.
    Fan,
    /// Paints on characters.
    Paint,
}

impl Tool {
    /// All of them, in the order of the tool bar.
    pub const ALL: [Tool; 6] = [Tool::View, Tool::Select, Tool::Move, Tool::Scissors, Tool::Fan, Tool::Paint];

    /// Name on its button.
    pub fn name(self) -> &'static str {
        match self {
            Tool::View => "View",
            Tool::Select => "Select",
            Tool::Move => "Move",
            Tool::Scissors => "Scissors",
            Tool::Fan => "Fan",
            Tool::Paint => "Paint",
        }
    }

    /// What it does, for its tool tip and the help window.
    pub fn help(self) -> &'static str {
        match self {
            Tool::View => {
                "Drag to turn the view. Ctrl-drag pulls the cloth, turns a bone of a character or moves a collider. Drag a mark of paper to fold it. Shift-click selects a vertex, \
                 Shift-drag a box of them."
            }
            Tool::Select => {
                "Click a vertex or drag a box. Shift adds, Ctrl removes. Alt-drag turns the view."
            }
            Tool::Move => {
                "Drag an arrow or the middle of the gizmo to move the selected vertices. Ctrl-drag shifts a bone of a character."
            }
            Tool::Scissors => "Drag across a cloth or a rope to cut it. Alt-drag turns the view.",
            Tool::Fan => "Press and point: the fan blows there until you let go. Alt-drag turns the view.",
            Tool::Paint => {
                "Drag over the skin of a character to paint numbers from 0 to 1 on it. Shift softens, Ctrl erases, \
                 Alt-drag turns the view."
            }
        }
    }
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Left.
    Left,
    /// Middle, or the wheel pressed down.
    Middle,
    /// Right.
    Right,
}

/// Keys that are held down with the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Control, or Command on a Mac.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
}

/// What the pointer does. Places are in pixels of the picture, from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pointer {
    /// A button goes down.
    Down {
        /// Which one.
        button: Button,
        /// Where.
        at: Vec2,
        /// With which keys.
        modifiers: Modifiers,
    },
    /// It moves, with or without a button.
    Move {
        /// Where to.
        at: Vec2,
        /// With which keys.
        modifiers: Modifiers,
    },
    /// A button comes up.
    Up {
        /// Which one.
        button: Button,
        /// Where.
        at: Vec2,
        /// With which keys.
        modifiers: Modifiers,
    },
    /// The wheel turns.
    Wheel {
        /// Where.
        at: Vec2,
        /// Notches; positive comes closer.
        notches: f32,
    },
    /// Escape, or the window lost the pointer: whatever is held is let go.
    Cancel,
}

/// What hands act on.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The simulation.
    pub shown: &'a Shown,
    /// The moment on the screen: that of `shown`, or one of the past.
    pub moment: &'a Moment,
    /// Where it is seen from.
    pub camera: Camera,
    /// Size of the picture, pixels.
    pub size: Vec2,
    /// Whether things can be touched: not in the past, and not in a recording.
    pub live: bool,
}

/// Selected vertices of each body of the model.
pub type Selection = BTreeMap<usize, BTreeSet<u32>>;

/// What comes of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reaction {
    /// What to do, in [`crate::worker::Request::Do`] when there is any.
    pub commands: Vec<Command>,
    /// The camera, if it moved.
    pub camera: Option<Camera>,
    /// What was clicked on, if anything was: a body, a collider, or nothing at all.
    pub clicked: Option<Option<ItemKind>>,
    /// Touches of the brush.
    pub dabs: Vec<Dab>,
    /// Whether a stroke of the brush is over.
    pub stroke_ended: bool,
}

/// How a box or a click changes the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Replace,
    Add,
    Remove,
}

/// What a drag does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    Orbit,
    Pan,
    Pull { body: String, item: usize, vertex: u32, stiffness: f64, offset: Vec3, target: Vec3 },
    MoveCollider { collider: String, last: Vec3 },
    Box { choice: Choice, to: Vec2 },
    Gizmo { handle: Handle, centre: Vec3, start: Vec3, sent: Vec3, moved: Vec<Moved> },
    Cut { last: Vec2, trail: Vec<Vec3> },
    Blow { origin: Vec3, target: Vec3, radius: f32 },
    Paint { last: Vec2, stroke: Stroke },
    Paper(PaperHold),
    Bone(BoneHold),
}

/// A button that is held down.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drag {
    button: Button,
    from: Vec2,
    /// Whether it went far enough not to be a click.
    has_moved: bool,
    /// The camera when it began: going back to the start brings the view back.
    camera: Camera,
    /// Where the pointer and the camera were last: another camera came from elsewhere, from the wheel or a key.
    last: (Vec2, Camera),
    pub(crate) deed: Deed,
}

/// The hands of the person: tool, selection, what is being dragged.
#[derive(Clone, Debug)]
pub struct Hands {
    /// Selected vertices.
    pub selection: Selection,
    /// How hard a pull is, relative to the usual.
    pub pull_strength: f64,
    /// Speed of the fan's air, m/s.
    pub fan_speed: f64,
    /// Radius of the fan's jet as a share of the distance to what it points at.
    pub fan_radius: f64,
    /// What paints.
    pub brush: Brush,
    tool: Tool,
    drag: Option<Drag>,
    /// The vertex under the pointer: body, vertex.
    hover: Option<(usize, u32)>,
}

impl Default for Hands {
    fn default() -> Self {
        Hands {
            selection: Selection::new(),
            pull_strength: 1.0,
            fan_speed: 8.0,
            fan_radius: 0.1,
            brush: Brush::default(),
            tool: Tool::default(),
            drag: None,
            hover: None,
        }
    }
}

impl Hands {
    /// The tool in hand.
    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// Takes another tool; what is held is let go.
    pub fn set_tool(&mut self, tool: Tool) -> Reaction {
        self.tool = tool;
        self.hover = None;
        self.let_go()
    }

    /// Whether a button is held down.
    pub fn is_dragging(&self) -> bool {
        self.drag.is_some()
    }

    /// The box of a box selection, from its lowest to its highest corner, pixels.
    pub fn rectangle(&self) -> Option<(Vec2, Vec2)> {
        match &self.drag {
            Some(Drag { from, has_moved: true, deed: Deed::Box { to, .. }, .. }) => {
                Some((from.min(*to), from.max(*to)))
            }
            _ => None,
        }
    }

    /// Lines and points to draw in the scene: selection, supports, pull, gizmo, cut, fan.
    pub fn marks(&self, seen: &Seen) -> Marks {
        marks::draw(self, seen)
    }

    pub(crate) fn deed(&self) -> Option<&Deed> {
        self.drag.as_ref().map(|drag| &drag.deed)
    }

    pub(crate) fn hover(&self) -> Option<(usize, u32)> {
        self.hover
    }

    /// Something happens to the pointer.
    pub fn handle(&mut self, event: Pointer, seen: &Seen) -> Reaction {
        let place = match event {
            Pointer::Down { at, .. } | Pointer::Move { at, .. } | Pointer::Up { at, .. } => at,
            Pointer::Wheel { at, notches } => at + 0.0 * notches,
            Pointer::Cancel => return self.let_go(),
        };
        if !(place.is_finite() && seen.size.cmpge(Vec2::ONE).all() && seen.size.is_finite()) {
            // A window without a size shows nothing that could be meant.
            return Reaction::default();
        }
        match event {
            Pointer::Down { button, at, modifiers } if self.drag.is_none() => {
                self.press(button, at, modifiers, seen)
            }
            Pointer::Move { at, modifiers } if self.drag.is_none() => self.point_at(at, modifiers, seen),
            Pointer::Move { at, .. } => self.drag_to(at, seen),
            Pointer::Up { button, at, .. }
                if self.drag.as_ref().is_some_and(|drag| drag.button == button) =>
            {
                self.release(at, seen)
            }
            Pointer::Wheel { at, notches } => {
                Reaction { camera: Some(zoomed(seen, at, notches)), ..Reaction::default() }
            }
            _ => Reaction::default(),
        }
    }

    // ---- press ----

    fn press(&mut self, button: Button, at: Vec2, modifiers: Modifiers, seen: &Seen) -> Reaction {
        let mut commands = Vec::new();
        let deed = match button {
            Button::Middle | Button::Right => Deed::Pan,
            Button::Left => self.left_deed(at, modifiers, seen, &mut commands),
        };
        self.hover = None;
        let dab = match &deed {
            Deed::Paint { stroke, .. } => dab_at(at, seen, &self.brush, *stroke),
            _ => None,
        };
        let (camera, last) = (seen.camera, (at, seen.camera));
        self.drag = Some(Drag { button, from: at, has_moved: false, camera, last, deed });
        Reaction { commands, dabs: Vec::from_iter(dab), ..Reaction::default() }
    }

    fn left_deed(&self, at: Vec2, modifiers: Modifiers, seen: &Seen, commands: &mut Vec<Command>) -> Deed {
        let Modifiers { ctrl, shift, alt } = modifiers;
        let choose = |choice: Choice| Deed::Box { choice, to: at };
        let deed = match self.tool {
            _ if alt => None,
            Tool::Scissors => seen.live.then(|| Deed::Cut { last: at, trail: Vec::new() }),
            Tool::Fan => seen.live.then(|| self.blow(at, seen, commands)),
            Tool::Paint => {
                let stroke = match (ctrl, shift) {
                    (true, _) => Stroke::Erase,
                    (false, true) => Stroke::Soften,
                    (false, false) => self.brush.stroke,
                };
                let hit = dab_at(at, seen, &self.brush, stroke).filter(|_| seen.live);
                hit.map(|_| Deed::Paint { last: at, stroke })
            }
            _ if shift => Some(choose(if ctrl { Choice::Remove } else { Choice::Add })),
            Tool::Select => Some(choose(if ctrl { Choice::Remove } else { Choice::Replace })),
            _ if !seen.live => None,
            Tool::View | Tool::Move if ctrl => self.take_hold(at, seen, commands),
            Tool::Move => self.take_gizmo(at, seen, commands),
            Tool::View => take_mark(at, seen, commands).map(Deed::Paper),
        };
        deed.unwrap_or(Deed::Orbit)
    }

    /// Takes hold of what is under the pointer: a vertex by a spring, a bone under its skin, a collider as it is.
    fn take_hold(&self, at: Vec2, seen: &Seen, commands: &mut Vec<Command>) -> Option<Deed> {
        let (origin, direction) = seen.camera.ray(at, seen.size);
        let hit = pick(seen.moment, origin, direction)?;
        let item = seen.moment.items.get(hit.item)?;
        if let Some(hold) = BoneHold::take(item, &hit, self.tool == Tool::Move) {
            return Some(Deed::Bone(hold));
        }
        if let ItemKind::Collider(_) = item.kind {
            return Some(Deed::MoveCollider { collider: item.name.to_string(), last: hit.point });
        }
        if let Some(hold) = take_near(item, hit.point, at, seen, commands) {
            return Some(Deed::Paper(hold));
        }
        if let Some((body, vertex)) = body_near(item, hit.point) {
            // Paper around a simulated body: the body is pulled, and the sheet follows.
            let offset = hit.point - on_plane(&seen.camera, hit.point, at, seen.size)?;
            let stiffness = PULL_RATE * self.pull_strength * mass(item);
            commands.push(grab(&body, vertex, hit.point, stiffness));
            return Some(Deed::Pull { body, item: hit.item, vertex, stiffness, offset, target: hit.point });
        }
        if !is_body(item) {
            return None;
        }
        let target = position(item, hit.vertex)?;
        let under_pointer = on_plane(&seen.camera, target, at, seen.size)?;
        let stiffness = PULL_RATE * self.pull_strength * mass(item);
        let body = item.name.to_string();
        commands.push(grab(&body, hit.vertex, target, stiffness));
        let offset = target - under_pointer;
        Some(Deed::Pull { body, item: hit.item, vertex: hit.vertex, stiffness, offset, target })
    }

    /// Takes hold of the gizmo, if the pointer is on it, and anchors what it moves.
    fn take_gizmo(&self, at: Vec2, seen: &Seen, commands: &mut Vec<Command>) -> Option<Deed> {
        let gizmo = Gizmo::of_selection(&self.selection, seen)?;
        let handle = gizmo.handle_at(at, seen)?;
        let start = gizmo.grip(handle, at, seen)?;
        let moved: Vec<Moved> =
            self.selection.iter().filter_map(|(&body, vertices)| moved_part(body, vertices, seen)).collect();
        for part in &moved {
            commands.extend(many(&part.free, |vertices| {
                let body = part.body.clone();
                Command::AnchorMany { body, vertices }
            }));
        }
        Some(Deed::Gizmo { handle, centre: gizmo.centre, start, sent: Vec3::ZERO, moved })
    }

    /// Points the fan.
    fn blow(&self, at: Vec2, seen: &Seen, commands: &mut Vec<Command>) -> Deed {
        let (eye, direction) = seen.camera.ray(at, seen.size);
        let hit = pick(seen.moment, eye, direction);
        let target =
            hit.map(|hit| hit.point).or_else(|| on_plane(&seen.camera, seen.camera.target, at, seen.size));
        let target = target.unwrap_or(eye + direction * seen.camera.distance);
        let distance = eye.distance(target).max(1e-3);
        let origin = eye.lerp(target, FAN_PLACE);
        let radius = self.fan_radius.clamp(1e-3, 10.0) * f64::from(distance);
        commands.push(Command::Blow {
            origin: doubles(origin),
            direction: doubles(direction),
            speed: self.fan_speed.clamp(0.0, 1e3),
            radius,
        });
        Deed::Blow { origin, target, radius: radius as f32 }
    }

    // ---- drag ----

    /// Remembers what lies under the pointer where a click would select it.
    fn point_at(&mut self, at: Vec2, modifiers: Modifiers, seen: &Seen) -> Reaction {
        let selects = match self.tool {
            Tool::Select => !modifiers.alt,
            Tool::View | Tool::Move => modifiers.shift || modifiers.ctrl,
            Tool::Scissors | Tool::Fan | Tool::Paint => false,
        };
        self.hover = if selects { vertex_at(at, seen) } else { None };
        Reaction::default()
    }

    fn drag_to(&mut self, at: Vec2, seen: &Seen) -> Reaction {
        let mut reaction = Reaction::default();
        let Some(mut drag) = self.drag.take() else { return reaction };
        drag.has_moved |= at.distance(drag.from) > CLICK_PIXELS;
        if matches!(drag.deed, Deed::Orbit | Deed::Pan) && seen.camera != drag.last.1 {
            // The drag goes on from what is seen now.
            (drag.from, drag.camera) = (drag.last.0, seen.camera);
        }
        let by = at - drag.from;
        match &mut drag.deed {
            Deed::Orbit if drag.has_moved => {
                let mut camera = drag.camera;
                let turn = by * (std::f32::consts::PI / seen.size.y);
                camera.orbit(turn.x, turn.y);
                reaction.camera = Some(camera);
            }
            Deed::Orbit => {}
            Deed::Pan => {
                let mut camera = drag.camera;
                camera.pan(by, seen.size.y);
                reaction.camera = Some(camera);
            }
            Deed::Pull { body, vertex, stiffness, offset, target, .. } => {
                if let Some(place) = on_plane(&seen.camera, *target, at, seen.size) {
                    *target = place + *offset;
                    reaction.commands.push(grab(body, *vertex, *target, *stiffness));
                }
            }
            Deed::MoveCollider { collider, last } => {
                if let Some(place) = on_plane(&seen.camera, *last, at, seen.size) {
                    let by = doubles(place - *last);
                    *last = place;
                    let collider = collider.clone();
                    reaction.commands.push(Command::MoveCollider { collider, by, rotate_deg: [0.0; 3] });
                }
            }
            Deed::Bone(hold) if drag.has_moved => reaction.commands.extend(hold.drag(at, seen)),
            Deed::Bone(_) => {}
            Deed::Paper(hold) if drag.has_moved => reaction.commands.extend(hold.drag(at, seen)),
            Deed::Paper(_) => {}
            Deed::Box { to, .. } => *to = at,
            Deed::Gizmo { handle, centre, start, sent, moved } => {
                let gizmo = Gizmo::at(*centre, seen);
                if let Some(grip) = gizmo.and_then(|gizmo| gizmo.grip(*handle, at, seen)) {
                    let by = grip - *start - *sent;
                    *sent += by;
                    reaction.commands.extend(moved.iter().flat_map(|part| part.moved_by(by)));
                }
            }
            Deed::Cut { last, trail } => {
                if at.distance(*last) >= piece_pixels(at, seen) {
                    reaction.commands.extend(cut(*last, at, seen, trail));
                    *last = at;
                }
            }
            Deed::Paint { last, stroke } => {
                for place in dabs_between(*last, at, &self.brush) {
                    reaction.dabs.extend(dab_at(place, seen, &self.brush, *stroke));
                    *last = place;
                }
            }
            deed @ Deed::Blow { .. } => *deed = self.blow(at, seen, &mut reaction.commands),
        }
        if !seen.live {
            reaction.commands.clear();
            reaction.dabs.clear();
        }
        drag.last = (at, reaction.camera.unwrap_or(seen.camera));
        self.drag = Some(drag);
        reaction
    }

    // ---- release ----

    fn release(&mut self, at: Vec2, seen: &Seen) -> Reaction {
        let mut reaction = self.drag_to(at, seen);
        let Some(Drag { from, has_moved, mut deed, .. }) = self.drag.take() else { return reaction };
        match &mut deed {
            Deed::Orbit if !has_moved => {
                let (origin, direction) = seen.camera.ray(at, seen.size);
                let hit = pick(seen.moment, origin, direction);
                reaction.clicked =
                    Some(hit.and_then(|hit| seen.moment.items.get(hit.item)).map(|item| item.kind));
            }
            Deed::Box { choice, .. } => {
                match has_moved {
                    true => self.choose_box(*choice, from.min(at), from.max(at), seen),
                    false => self.choose_vertex(*choice, vertex_at(at, seen)),
                };
            }
            // The end of a cut that is too short to be a piece of its own.
            Deed::Cut { last, trail } if seen.live && at.distance(*last) >= 2.0 => {
                reaction.commands.extend(cut(*last, at, seen, trail));
            }
            _ => {}
        }
        reaction.stroke_ended = matches!(deed, Deed::Paint { .. });
        reaction.commands.extend(ending(deed));
        reaction
    }

    /// Ends whatever goes on.
    fn let_go(&mut self) -> Reaction {
        let drag = self.drag.take();
        let stroke_ended = drag.as_ref().is_some_and(|drag| matches!(drag.deed, Deed::Paint { .. }));
        let commands = drag.map(|drag| ending(drag.deed)).unwrap_or_default();
        Reaction { commands, stroke_ended, ..Reaction::default() }
    }

    // ---- selection ----

    fn choose_box(&mut self, choice: Choice, low: Vec2, high: Vec2, seen: &Seen) {
        if choice == Choice::Replace {
            self.selection.clear();
        }
        for (index, item) in seen.moment.items.iter().enumerate() {
            let ItemKind::Body(body) = item.kind else { continue };
            let inside = vertices_in_box(seen.moment, index, &seen.camera, seen.size, low, high);
            let selected = self.selection.entry(body).or_default();
            match choice {
                Choice::Remove => selected.retain(|v| inside.binary_search(v).is_err()),
                _ => selected.extend(inside),
            }
        }
        self.selection.retain(|_, vertices| !vertices.is_empty());
    }

    fn choose_vertex(&mut self, choice: Choice, found: Option<(usize, u32)>) {
        if choice == Choice::Replace {
            self.selection.clear();
        }
        let Some((body, vertex)) = found else { return };
        let selected = self.selection.entry(body).or_default();
        if choice == Choice::Remove || !selected.insert(vertex) {
            selected.remove(&vertex);
        }
        self.selection.retain(|_, vertices| !vertices.is_empty());
    }

    /// Selects all vertices of a body, or of all bodies.
    pub fn select_all(&mut self, moment: &Moment, body: Option<usize>) {
        self.selection.clear();
        for item in &moment.items {
            if let ItemKind::Body(b) = item.kind
                && body.is_none_or(|only| only == b)
                && !item.positions.is_empty()
            {
                self.selection.insert(b, (0..item.positions.len() as u32).collect());
            }
        }
    }

    /// Lets go of everything, as another scene is edited; the tool and its settings stay in hand.
    pub fn forget(&mut self) {
        self.selection.clear();
        self.brush.map.clear();
        (self.drag, self.hover) = (None, None);
    }

    /// Forgets what is no longer there, as another run began. Bodies are known by name; where none was added or removed,
    /// one with another name is the same one, renamed.
    pub fn keep_within(&mut self, before: &Moment, now: &Moment) {
        self.hover = None;
        let bodies = |moment: &Moment| moment.items.iter().filter(|item| is_body(item)).count();
        let as_many = bodies(before) == bodies(now);
        for (body, mut vertices) in std::mem::take(&mut self.selection) {
            let name = body_item(before, body).map(|(_, item)| &item.name);
            let known = now.items.iter().find(|item| is_body(item) && Some(&item.name) == name);
            let renamed = body_item(now, body).map(|(_, item)| item).filter(|_| as_many);
            let Some(item) = known.or(renamed) else { continue };
            vertices.retain(|v| (*v as usize) < item.positions.len());
            if let (ItemKind::Body(body), false) = (item.kind, vertices.is_empty()) {
                self.selection.insert(body, vertices);
            }
        }
    }

    /// Anchors the selected vertices where they are; those that are supported stay as they are.
    pub fn pin_selection(&self, seen: &Seen) -> Vec<Command> {
        self.command_selection(seen, |body, vertices| Command::AnchorMany { body, vertices })
    }

    /// Frees the selected vertices.
    pub fn unpin_selection(&self, seen: &Seen) -> Vec<Command> {
        self.command_selection(seen, |body, vertices| Command::FreeMany { body, vertices })
    }

    /// A command for the selected vertices. Which of them are supported is not asked here: commands that wait may change
    /// it, and the engine knows.
    fn command_selection(&self, seen: &Seen, command: impl Fn(String, Vec<u32>) -> Command) -> Vec<Command> {
        let mut commands = Vec::new();
        for (&body, vertices) in self.selection.iter().filter(|_| seen.live) {
            let Some((_, item)) = body_item(seen.moment, body) else { continue };
            let chosen: Vec<u32> =
                vertices.iter().copied().filter(|v| (*v as usize) < item.positions.len()).collect();
            commands.extend(many(&chosen, |vertices| command(item.name.to_string(), vertices)));
        }
        commands
    }

    /// The camera that sees the selection, or everything without one.
    pub fn focus(&self, seen: &Seen) -> Camera {
        match selected_positions(&self.selection, seen.moment).next() {
            Some(_) => fitted(seen, selected_positions(&self.selection, seen.moment)),
            None => see_all(seen),
        }
    }
}

fn is_body(item: &Item) -> bool {
    matches!(item.kind, ItemKind::Body(_))
}

/// The item that shows a body, and its index.
pub(crate) fn body_item(moment: &Moment, body: usize) -> Option<(usize, &Item)> {
    moment.items.iter().enumerate().find(|(_, item)| item.kind == ItemKind::Body(body))
}

/// Where a vertex is, m.
pub(crate) fn position(item: &Item, vertex: u32) -> Option<Vec3> {
    item.positions.get(vertex as usize).map(|p| item.transform.transform_point3(*p))
}

/// Where the selected vertices are, m.
pub(crate) fn selected_positions<'a>(
    selection: &'a Selection,
    moment: &'a Moment,
) -> impl Iterator<Item = Vec3> + Clone + 'a {
    let bodies =
        selection.iter().filter_map(|(&body, vertices)| Some((body_item(moment, body)?.1, vertices)));
    bodies.flat_map(|(item, vertices)| vertices.iter().filter_map(|&v| position(item, v)))
}

/// How a vertex is supported, if it is.
pub(crate) fn support_of(shown: &Shown, body: usize, vertex: u32) -> Option<PinnedVertex> {
    let pinned = shown.pinned.get(body)?;
    let at = pinned.binary_search_by_key(&vertex, |p| p.vertex).ok()?;
    pinned.get(at).copied()
}

/// The vertex of a body that a click at that place means: body, vertex.
fn vertex_at(at: Vec2, seen: &Seen) -> Option<(usize, u32)> {
    let (origin, direction) = seen.camera.ray(at, seen.size);
    let body_of = |item: usize| match seen.moment.items.get(item)?.kind {
        ItemKind::Body(body) => Some(body),
        ItemKind::Collider(_) | ItemKind::Paper(_) => None,
    };
    match pick(seen.moment, origin, direction) {
        Some(Hit { item, vertex, .. }) if body_of(item).is_some() => Some((body_of(item)?, vertex)),
        // Beside the border of a cloth the nearest of its vertices is meant.
        _ => {
            let (item, vertex) = pick_vertex(seen.moment, &seen.camera, seen.size, at, VERTEX_PIXELS)?;
            Some((body_of(item)?, vertex))
        }
    }
}

/// Mass of a body, kg.
fn mass(item: &Item) -> f64 {
    item.mesh.topology.as_ref().map_or(0.1, |topology| topology.masses.iter().sum())
}

pub(crate) fn doubles(v: Vec3) -> [f64; 3] {
    v.to_array().map(f64::from)
}

fn grab(body: &str, vertex: u32, target: Vec3, stiffness: f64) -> Command {
    Command::Grab { body: body.to_owned(), vertex, target: doubles(target), stiffness }
}

/// Commands for a list of vertices, in pieces that the engine takes.
pub(crate) fn many(vertices: &[u32], command: impl Fn(Vec<u32>) -> Command) -> Vec<Command> {
    vertices.chunks(MAX_SELECTION).map(|piece| command(piece.to_vec())).collect()
}

/// What ends a deed.
fn ending(deed: Deed) -> Vec<Command> {
    match deed {
        Deed::Pull { body, vertex, .. } => vec![Command::Release { body, vertex }],
        Deed::Blow { .. } => vec![Command::StopBlowing],
        Deed::Paper(hold) => hold.release(),
        Deed::Gizmo { moved, .. } => {
            let freed = |part: Moved| {
                many(&part.free, |vertices| Command::FreeMany { body: part.body.clone(), vertices })
            };
            moved.into_iter().flat_map(freed).collect()
        }
        Deed::Orbit
        | Deed::Pan
        | Deed::MoveCollider { .. }
        | Deed::Bone(_)
        | Deed::Box { .. }
        | Deed::Cut { .. }
        | Deed::Paint { .. } => Vec::new(),
    }
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
