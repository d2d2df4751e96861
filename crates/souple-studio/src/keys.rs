//! Keys and what they do, in one table that the help window prints.
//!
//! The habits of the field: Space plays, `.` steps, R resets, W shows the wireframe, C the elements of solids, F focuses. Number keys change the
//! style (ESSI-15). Arrows, PageUp and PageDown move supports (GRI-10); the keys M, L and K, held down, say which
//! (GRI-11): M the left one, M and L both, M, L and K both in opposite directions. The seed names no more than that; our
//! own additions are L alone for the right one, and none held for the selected pin set or else for all. K without both
//! others changes nothing. The seed is silent on which key moves along which axis: here left and right move along x, up
//! and down along y, PageUp away along −z and PageDown towards +z, in the world, wherever the camera stands.
//!
//! The left support is the pin set whose mean x is smallest at the start of the scene, the right one that whose mean x
//! is largest; where several are equal, the first and the last of the scene.

use std::fmt;

use glam::DVec3;
use souple::{Command, Model};
use souple_viewer::camera::Preset;

use crate::tools::Tool;

/// How far a key moves a support at each press or repeat, m.
pub const SUPPORT_STEP: f64 = 0.01;

/// A key of the keyboard, by what is printed on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A letter, in upper case.
    Letter(char),
    /// A digit, 0 to 9.
    Digit(u8),
    /// The space bar.
    Space,
    /// The full stop.
    Period,
    /// Home.
    Home,
    /// Delete.
    Delete,
    /// Escape.
    Escape,
    /// F1.
    F1,
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Up arrow.
    Up,
    /// Down arrow.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

/// A key with modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// Control, or Command on a Mac.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
}

impl Chord {
    /// The key alone.
    pub const fn plain(key: Key) -> Chord {
        Chord { key, ctrl: false, shift: false }
    }

    /// The key with Control.
    pub const fn ctrl(key: Key) -> Chord {
        Chord { key, ctrl: true, shift: false }
    }

    /// The key with Control and Shift.
    pub const fn ctrl_shift(key: Key) -> Chord {
        Chord { key, ctrl: true, shift: true }
    }
}

impl fmt::Display for Chord {
    /// As people write it: `Ctrl+Shift+Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl+")?;
        }
        if self.shift {
            f.write_str("Shift+")?;
        }
        match self.key {
            Key::Letter(letter) => write!(f, "{letter}"),
            Key::Digit(digit) => write!(f, "{digit}"),
            Key::Space => f.write_str("Space"),
            Key::Period => f.write_str("."),
            Key::Home => f.write_str("Home"),
            Key::Delete => f.write_str("Del"),
            Key::Escape => f.write_str("Esc"),
            Key::F1 => f.write_str("F1"),
            Key::Left => f.write_str("←"),
            Key::Right => f.write_str("→"),
            Key::Up => f.write_str("↑"),
            Key::Down => f.write_str("↓"),
            Key::PageUp => f.write_str("PageUp"),
            Key::PageDown => f.write_str("PageDown"),
        }
    }
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Plays or pauses.
    PlayPause,
    /// One step.
    Step,
    /// Back to the start.
    Reset,
    /// Loops at the end, or not.
    Loop,
    /// Shows the wireframe, or what was shown before.
    Wireframe,
    /// Shows the elements of solids, or hides them.
    Cells,
    /// Looks at the selection, or at everything without one.
    Focus,
    /// Looks at everything.
    ShowAll,
    /// Looks along an axis.
    View(Preset),
    /// Gives all bodies a style, by its place in `StyleSheet::built_in_names`.
    Style(usize),
    /// Takes another tool.
    Tool(Tool),
    /// Pins the selected vertices where they are.
    PinSelection,
    /// Frees the selected vertices.
    UnpinSelection,
    /// Selects all vertices of the selected body, or of all bodies.
    SelectAll,
    /// Removes the selected object.
    Remove,
    /// Takes the last change back.
    Undo,
    /// Does it again.
    Redo,
    /// Writes the scene file.
    Save,
    /// Writes another scene file.
    SaveAs,
    /// Opens a file.
    Open,
    /// Begins an empty scene.
    New,
    /// Lets go of what is held, then forgets the selection.
    Clear,
    /// Shows or hides the help window.
    Help,
    /// Moves supports.
    MoveSupport(Direction),
}

/// Where a support is moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along −x.
    Left,
    /// Along +x.
    Right,
    /// Along +y.
    Up,
    /// Along −y.
    Down,
    /// Along −z, away from the usual camera.
    Back,
    /// Along +z, towards the usual camera.
    Front,
}

impl Direction {
    /// All of them.
    pub const ALL: [Direction; 6] = [
        Direction::Left,
        Direction::Right,
        Direction::Up,
        Direction::Down,
        Direction::Back,
        Direction::Front,
    ];

    /// As a unit vector of the world.
    pub fn vector(self) -> DVec3 {
        match self {
            Direction::Left => DVec3::NEG_X,
            Direction::Right => DVec3::X,
            Direction::Up => DVec3::Y,
            Direction::Down => DVec3::NEG_Y,
            Direction::Back => DVec3::NEG_Z,
            Direction::Front => DVec3::Z,
        }
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The keys.
    pub chord: Chord,
    /// What they do.
    pub action: Action,
    /// The same for people.
    pub help: &'static str,
}

const fn plain(key: Key, action: Action, help: &'static str) -> Binding {
    Binding { chord: Chord::plain(key), action, help }
}

const fn letter(letter: char, action: Action, help: &'static str) -> Binding {
    plain(Key::Letter(letter), action, help)
}

const fn ctrl(key: Key, action: Action, help: &'static str) -> Binding {
    Binding { chord: Chord::ctrl(key), action, help }
}

/// Every key, in the order of the help window.
static BINDINGS: [Binding; 47] = [
    plain(Key::Space, Action::PlayPause, "Play or pause"),
    plain(Key::Period, Action::Step, "One step"),
    letter('R', Action::Reset, "Back to the start"),
    letter('O', Action::Loop, "Loop at the end"),
    letter('V', Action::Tool(Tool::View), "Tool: view and pull"),
    letter('S', Action::Tool(Tool::Select), "Tool: select"),
    letter('G', Action::Tool(Tool::Move), "Tool: move the selection"),
    letter('X', Action::Tool(Tool::Scissors), "Tool: scissors"),
    letter('B', Action::Tool(Tool::Fan), "Tool: fan"),
    letter('D', Action::Tool(Tool::Paint), "Tool: paint on characters"),
    letter('P', Action::PinSelection, "Pin the selected vertices"),
    letter('U', Action::UnpinSelection, "Unpin the selected vertices"),
    ctrl(Key::Letter('A'), Action::SelectAll, "Select all vertices"),
    plain(Key::Escape, Action::Clear, "Let go; forget the selection"),
    letter('F', Action::Focus, "Look at the selection, or at everything"),
    plain(Key::Home, Action::ShowAll, "Look at everything"),
    ctrl(Key::Digit(1), Action::View(Preset::Front), "Look from the front"),
    ctrl(Key::Digit(2), Action::View(Preset::Side), "Look from the side"),
    ctrl(Key::Digit(3), Action::View(Preset::Top), "Look from above"),
    ctrl(Key::Digit(4), Action::View(Preset::Corner), "Look from a corner"),
    letter('W', Action::Wireframe, "Wireframe on or off"),
    letter('C', Action::Cells, "Elements of solids on or off"),
    plain(Key::Digit(1), Action::Style(0), "Style: standard"),
    plain(Key::Digit(2), Action::Style(1), "Style: Phong"),
    plain(Key::Digit(3), Action::Style(2), "Style: velvet"),
    plain(Key::Digit(4), Action::Style(3), "Style: satin"),
    plain(Key::Digit(5), Action::Style(4), "Style: chrome"),
    plain(Key::Digit(6), Action::Style(5), "Style: cube map"),
    plain(Key::Digit(7), Action::Style(6), "Style: bump"),
    plain(Key::Digit(8), Action::Style(7), "Style: toon"),
    plain(Key::Digit(9), Action::Style(8), "Style: silhouette"),
    plain(Key::Digit(0), Action::Style(9), "Style: glass"),
    plain(Key::Left, Action::MoveSupport(Direction::Left), "Move supports along −x"),
    plain(Key::Right, Action::MoveSupport(Direction::Right), "Move supports along +x"),
    plain(Key::Up, Action::MoveSupport(Direction::Up), "Move supports up"),
    plain(Key::Down, Action::MoveSupport(Direction::Down), "Move supports down"),
    plain(Key::PageUp, Action::MoveSupport(Direction::Back), "Move supports along −z"),
    plain(Key::PageDown, Action::MoveSupport(Direction::Front), "Move supports along +z"),
    ctrl(Key::Letter('Z'), Action::Undo, "Undo"),
    Binding { chord: Chord::ctrl_shift(Key::Letter('Z')), action: Action::Redo, help: "Redo" },
    ctrl(Key::Letter('Y'), Action::Redo, "Redo"),
    plain(Key::Delete, Action::Remove, "Remove the selected object"),
    ctrl(Key::Letter('N'), Action::New, "New scene"),
    ctrl(Key::Letter('O'), Action::Open, "Open a file"),
    ctrl(Key::Letter('S'), Action::Save, "Save the scene"),
    Binding { chord: Chord::ctrl_shift(Key::Letter('S')), action: Action::SaveAs, help: "Save as" },
    plain(Key::F1, Action::Help, "Help"),
];

/// The keys that are held down while supports are moved, for the help window.
pub const HELD_HELP: [(&str, &str); 5] = [
    ("none", "The selected pin set, or all of them"),
    ("M", "The left support"),
    ("L", "The right support"),
    ("M+L", "Both supports"),
    ("M+L+K", "Both, in opposite directions"),
];

/// Every key, in the order of the help window.
pub fn bindings() -> &'static [Binding] {
    &BINDINGS
}

/// What a key does.
pub fn action_of(chord: Chord) -> Option<Action> {
    BINDINGS.iter().find(|binding| binding.chord == chord).map(|binding| binding.action)
}

/// The first key of an action, for menus and tool tips.
pub fn chord_of(action: Action) -> Option<Chord> {
    BINDINGS.iter().find(|binding| binding.action == action).map(|binding| binding.chord)
}

/// Which of the keys that choose supports are held down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// M: the left support.
    pub m: bool,
    /// L: the right support.
    pub l: bool,
    /// K: with both others, opposite directions.
    pub k: bool,
}

/// A pin set that keys can move.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Name of its body.
    pub body: String,
    /// Name of the pin set.
    pub pin: String,
    /// Mean x of its particles at the start, m: tells left from right.
    pub x: f64,
}

impl Support {
    /// The pin sets of a model, in its order.
    pub fn of_model(model: &Model) -> Vec<Support> {
        let sets = model.bodies.iter().flat_map(|body| body.pins.iter().map(move |pin| (body, pin)));
        sets.map(|(body, pin)| {
            let rest = &body.topology.rest_positions;
            let sum: f64 = pin.vertices.iter().filter_map(|&v| rest.get(v as usize)).map(|p| p.x).sum();
            let x = sum / pin.vertices.len().max(1) as f64;
            Support { body: body.name.clone(), pin: pin.name.clone(), x }
        })
        .collect()
    }

    fn moved(&self, by: DVec3) -> Command {
        Command::MovePin { body: self.body.clone(), pin: self.pin.clone(), by: by.to_array() }
    }
}

/// The left and the right support; the same one when there is only one.
fn left_and_right(supports: &[Support]) -> Option<(&Support, &Support)> {
    // `min_by` keeps the first of equals, `max_by` the last.
    let left = supports.iter().min_by(|a, b| a.x.total_cmp(&b.x))?;
    let right = supports.iter().max_by(|a, b| a.x.total_cmp(&b.x))?;
    Some((left, right))
}

/// The commands of one press (or repeat) of a key that moves supports. `selected` is the pin set that is selected in the
/// tree, as names of its body and of itself.
pub fn support_moves(
    supports: &[Support],
    selected: Option<(&str, &str)>,
    held: Held,
    direction: Direction,
) -> Vec<Command> {
    let by = direction.vector() * SUPPORT_STEP;
    let Some((left, right)) = left_and_right(supports) else { return Vec::new() };
    let alone = std::ptr::eq(left, right);
    match (held.m, held.l) {
        (true, false) => vec![left.moved(by)],
        (false, true) => vec![right.moved(by)],
        // One support cannot go both ways: it is the left one.
        (true, true) if alone => vec![left.moved(by)],
        (true, true) => vec![left.moved(by), right.moved(if held.k { -by } else { by })],
        (false, false) => {
            let chosen = supports.iter().filter(|s| selected == Some((s.body.as_str(), s.pin.as_str())));
            let chosen: Vec<Command> = chosen.take(1).map(|s| s.moved(by)).collect();
            if chosen.is_empty() { supports.iter().map(|s| s.moved(by)).collect() } else { chosen }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use souple::ModelBuilder;
    use souple::scene::{Body, Grid, GridPlane, Pin, Scene, Select, Shape};
    use souple_viewer::style::StyleSheet;

    use super::*;

    #[test]
    fn no_key_does_two_things_and_every_key_says_what_it_does() {
        let chords: BTreeSet<Chord> = BINDINGS.iter().map(|b| b.chord).collect();
        assert_eq!(chords.len(), BINDINGS.len(), "two bindings share a key");
        for binding in bindings() {
            assert_eq!(action_of(binding.chord), Some(binding.action));
            let first = chord_of(binding.action).unwrap();
            assert_eq!(action_of(first), Some(binding.action));
            assert!(!binding.help.is_empty());
            // M, L and K choose supports while they are held: nothing else may hang on them.
            assert!(!matches!(binding.chord.key, Key::Letter('M' | 'L' | 'K')), "{}", binding.chord);
            if let Key::Letter(letter) = binding.chord.key {
                assert!(letter.is_ascii_uppercase());
            }
        }
        assert_eq!(action_of(Chord::plain(Key::Letter('Q'))), None);
        let texts: BTreeSet<String> = BINDINGS.iter().map(|b| b.chord.to_string()).collect();
        assert_eq!(texts.len(), BINDINGS.len());
        assert_eq!(Chord::ctrl_shift(Key::Letter('Z')).to_string(), "Ctrl+Shift+Z");
    }

    #[test]
    fn every_tool_and_direction_has_a_key() {
        for tool in Tool::ALL {
            assert!(chord_of(Action::Tool(tool)).is_some(), "{tool:?}");
        }
        for direction in Direction::ALL {
            assert!(chord_of(Action::MoveSupport(direction)).is_some(), "{direction:?}");
        }
    }

    #[test]
    fn number_keys_name_the_style_they_give() {
        let names: Vec<&str> = StyleSheet::built_in_names().collect();
        for (k, digit) in (1..=9).chain([0]).enumerate() {
            let binding = BINDINGS.iter().find(|b| b.chord == Chord::plain(Key::Digit(digit))).unwrap();
            assert_eq!(binding.action, Action::Style(k));
            let told = binding.help.strip_prefix("Style: ").unwrap().to_lowercase().replace(' ', "_");
            assert_eq!(told, names[k]);
        }
    }

    fn support(pin: &str, x: f64) -> Support {
        Support { body: "cloth".into(), pin: pin.into(), x }
    }

    fn held(keys: &str) -> Held {
        Held { m: keys.contains('m'), l: keys.contains('l'), k: keys.contains('k') }
    }

    /// Which pins move, and how far along x.
    fn moves(supports: &[Support], selected: Option<&str>, keys: &str) -> Vec<(String, f64)> {
        let selected = selected.map(|pin| ("cloth", pin));
        let commands = support_moves(supports, selected, held(keys), Direction::Right);
        let read = |command: Command| match command {
            Command::MovePin { body, pin, by } => {
                assert_eq!((body.as_str(), by[1], by[2]), ("cloth", 0.0, 0.0));
                (pin, by[0])
            }
            other => panic!("{other:?}"),
        };
        commands.into_iter().map(read).collect()
    }

    fn by(list: &[(&str, f64)]) -> Vec<(String, f64)> {
        list.iter().map(|(pin, x)| (pin.to_string(), *x)).collect()
    }

    #[test]
    fn modifiers_of_the_seed_choose_the_support() {
        // Not in the order of x.
        let three = [support("middle", 0.1), support("right", 2.0), support("left", -1.0)];
        let d = SUPPORT_STEP;
        let all = by(&[("middle", d), ("right", d), ("left", d)]);
        let both = by(&[("left", d), ("right", d)]);
        for (keys, expected) in [
            ("", &all),
            ("k", &all),
            ("m", &by(&[("left", d)])),
            ("mk", &by(&[("left", d)])),
            ("l", &by(&[("right", d)])),
            ("lk", &by(&[("right", d)])),
            ("ml", &both),
            ("mlk", &by(&[("left", d), ("right", -d)])),
        ] {
            assert_eq!(&moves(&three, None, keys), expected, "{keys}");
            // A selection counts only when no key says otherwise.
            let chosen = if keys.contains(['m', 'l']) { expected.clone() } else { by(&[("middle", d)]) };
            assert_eq!(moves(&three, Some("middle"), keys), chosen, "{keys}");
        }
        assert_eq!(moves(&three, Some("gone"), ""), all);
    }

    #[test]
    fn one_support_or_none() {
        let one = [support("only", 0.3)];
        for keys in ["", "k", "m", "l", "ml", "mlk"] {
            assert_eq!(moves(&one, None, keys), by(&[("only", SUPPORT_STEP)]), "{keys}");
            assert!(moves(&[], None, keys).is_empty());
        }
        // Equal places: the first is left, the last is right.
        let equal = [support("a", 0.5), support("b", 0.5), support("c", 0.5)];
        assert_eq!(moves(&equal, None, "mlk"), by(&[("a", SUPPORT_STEP), ("c", -SUPPORT_STEP)]));
    }

    #[test]
    fn directions_are_six_different_unit_vectors() {
        for (i, a) in Direction::ALL.iter().enumerate() {
            assert_eq!(a.vector().length(), 1.0);
            for b in &Direction::ALL[..i] {
                assert!(a.vector().dot(b.vector()) <= 0.0, "{a:?} {b:?}");
            }
            let commands = support_moves(&[support("p", 0.0)], None, Held::default(), *a);
            assert_eq!(
                commands,
                [Command::MovePin {
                    body: "cloth".into(),
                    pin: "p".into(),
                    by: (a.vector() * SUPPORT_STEP).to_array()
                }]
            );
        }
    }

    #[test]
    fn supports_of_a_model_know_where_they_are() {
        let pin = |name: &str, x: f64| Pin {
            name: name.into(),
            select: Select::Near([x, 0.0, 0.0]),
            ..Pin::default()
        };
        let shape = Shape::Grid(Grid { plane: GridPlane::Xy, vertices: [5, 5], ..Grid::default() });
        let body = Body {
            name: "cloth".into(),
            fabric: Some("cotton".into()),
            shape,
            pins: vec![pin("right", 1.0), pin("left", 0.0)],
            ..Body::default()
        };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        let supports = Support::of_model(&ModelBuilder::new(&scene).build().unwrap());
        assert_eq!(supports, [support("right", 1.0), support("left", 0.0)]);
        assert_eq!(moves(&supports, None, "m"), by(&[("left", SUPPORT_STEP)]));
    }
}
