//! Commands that wait for the next step.
//!
//! While nothing steps, a drag sends place after place. They are merged so that the list does not grow, and so that the
//! step then does exactly what it would have done with all of them (but for the rounding of sums). What is let go waits
//! until what it did before was done: a particle that is moved and freed in one step would not move.

use souple::Command;

/// Adds a command to those that wait for the next step. While nothing steps, a drag would make the list longer and
/// longer: a place that is moved on replaces the one before, and moves of one thing add up. Such commands are the same in
/// any order, so one of them is looked for up to the last command of another kind.
pub(crate) fn add_command(waiting: &mut Vec<Command>, command: Command) {
    let is_drag = |command: &Command| {
        matches!(
            command,
            Command::Grab { .. }
                | Command::Blow { .. }
                | Command::SetWind { .. }
                | Command::MoveAnchored { .. }
                | Command::MovePin { .. }
                | Command::MoveCollider { rotate_deg: [0.0, 0.0, 0.0], .. }
        )
    };
    let drags = waiting.iter_mut().rev().take_while(|before| is_drag(before));
    for before in drags {
        let merged = match (&mut *before, &command) {
            (Command::Grab { body, vertex, .. }, Command::Grab { body: b, vertex: v, .. })
                if body == b && vertex == v =>
            {
                *before = command;
                return;
            }
            (Command::Blow { .. }, Command::Blow { .. })
            | (Command::SetWind { .. }, Command::SetWind { .. }) => {
                *before = command;
                return;
            }
            (
                Command::MoveAnchored { body, vertices, by },
                Command::MoveAnchored { body: b, vertices: v, by: more },
            ) if body == b && vertices == v => Some((by, more)),
            (Command::MovePin { body, pin, by }, Command::MovePin { body: b, pin: p, by: more })
                if body == b && pin == p =>
            {
                Some((by, more))
            }
            (
                Command::MoveCollider { collider, by, .. },
                Command::MoveCollider { collider: c, by: more, rotate_deg: [0.0, 0.0, 0.0] },
            ) if collider == c => Some((by, more)),
            _ => None,
        };
        if let Some((by, more)) = merged {
            by.iter_mut().zip(more).for_each(|(sum, part)| *sum += part);
            return;
        }
    }
    waiting.push(command);
}

/// Takes out what the next step does. A particle that was moved by its anchor is freed one step later, and what comes
/// after that waits with it, so that the order stays.
pub(crate) fn take_ready(waiting: &mut Vec<Command>) -> Vec<Command> {
    let frees = |command: &Command, moved: &[String]| match command {
        Command::Free { body, .. } | Command::FreeMany { body, .. } => moved.contains(body),
        _ => false,
    };
    let mut moved: Vec<String> = Vec::new();
    let ready = waiting.iter().position(|command| {
        if let Command::MoveAnchored { body, .. } = command {
            moved.push(body.clone());
        }
        frees(command, &moved)
    });
    let later = waiting.split_off(ready.unwrap_or(waiting.len()));
    std::mem::replace(waiting, later)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use souple::scene::{Body, Collider, Grid, Pin, Scene, Select, Shape};
    use souple::{ModelBuilder, Simulation};

    use super::*;

    fn scene() -> Scene {
        let pin = |name: &str, vertex: u32| Pin {
            name: name.into(),
            select: Select::Vertices(vec![vertex]),
            motion: None,
            ..Pin::default()
        };
        let body = |name: &str| Body {
            name: name.into(),
            fabric: Some("cotton".into()),
            // Rows a quarter of a metre apart.
            shape: Shape::Grid(Grid { vertices: [5, 5], ..Grid::default() }),
            pins: vec![pin("left", 0), pin("right", 4)],
            ..Body::default()
        };
        let floor = Collider { name: "floor".into(), position: [0.0, -3.0, 0.0], ..Collider::default() };
        Scene { bodies: vec![body("a"), body("b")], colliders: vec![floor], ..Scene::default() }
    }

    fn any_command() -> impl Strategy<Value = Command> {
        let body = || prop::sample::select(vec!["a", "b"]).prop_map(str::to_owned);
        // Quarters add up without rounding, so that sums are the same in any order.
        let by = || prop::array::uniform3(-4i8..4).prop_map(|by| by.map(|c| f64::from(c) * 0.25));
        prop_oneof![
            (body(), 5u32..7, by()).prop_map(|(body, vertex, target)| Command::Grab {
                body,
                vertex,
                target,
                stiffness: 10.0
            }),
            (body(), 5u32..7).prop_map(|(body, vertex)| Command::Release { body, vertex }),
            (body(), prop::sample::select(vec!["left", "right"]), by())
                .prop_map(|(body, pin, by)| { Command::MovePin { body, pin: pin.into(), by } }),
            (body(), by()).prop_map(|(body, by)| Command::MoveAnchored { body, vertices: vec![8, 9], by }),
            (by(), any::<bool>()).prop_map(|(by, turns)| Command::MoveCollider {
                collider: "floor".into(),
                by,
                rotate_deg: [0.0, 0.0, if turns { 30.0 } else { 0.0 }],
            }),
            by().prop_map(|velocity| Command::SetWind { velocity }),
            (1u8..9).prop_map(|speed| Command::Blow {
                origin: [0.0, 0.0, 1.0],
                direction: [0.0, 0.0, -1.0],
                speed: f64::from(speed),
                radius: 0.5,
            }),
            Just(Command::StopBlowing),
        ]
    }

    proptest! {
        #[test]
        fn commands_that_are_merged_do_the_same(commands in prop::collection::vec(any_command(), 0..40)) {
            let run = |commands: Vec<Command>| {
                let mut simulation = Simulation::new(ModelBuilder::new(&scene()).build().unwrap());
                for body in ["a", "b"] {
                    let vertices = vec![8, 9];
                    simulation.command(Command::AnchorMany { body: body.into(), vertices }).unwrap();
                }
                for command in commands {
                    simulation.command(command).unwrap();
                }
                simulation.step();
                simulation.state_hash()
            };
            let mut merged = Vec::new();
            commands.iter().for_each(|command| add_command(&mut merged, command.clone()));
            prop_assert!(merged.len() <= commands.len());
            prop_assert_eq!(run(commands), run(merged));
        }
    }

    #[test]
    fn what_was_moved_is_freed_one_step_later() {
        let body = || "a".to_owned();
        let anchor = Command::AnchorMany { body: body(), vertices: vec![8] };
        let moves = Command::MoveAnchored { body: body(), vertices: vec![8], by: [0.0, 0.5, 0.0] };
        let free = Command::FreeMany { body: body(), vertices: vec![8] };
        let other = Command::FreeMany { body: "b".into(), vertices: vec![8] };
        let mut waiting =
            vec![free.clone(), anchor.clone(), moves.clone(), other.clone(), free.clone(), anchor.clone()];
        assert_eq!(take_ready(&mut waiting), [free.clone(), anchor.clone(), moves, other]);
        assert_eq!(take_ready(&mut waiting), [free, anchor]);
        assert_eq!(take_ready(&mut waiting), []);
    }

    #[test]
    fn a_drag_does_not_grow() {
        let mut waiting = Vec::new();
        for step in 0..100 {
            let target = [f64::from(step), 0.0, 0.0];
            for body in ["a", "b"] {
                let (body, vertex) = (body.to_owned(), 3);
                add_command(
                    &mut waiting,
                    Command::Grab { body: body.clone(), vertex, target, stiffness: 1.0 },
                );
                let by = [1.0, 0.0, 0.0];
                add_command(&mut waiting, Command::MoveAnchored { body, vertices: vec![1, 2], by });
            }
        }
        assert_eq!(waiting.len(), 4);
        let moved = waiting.iter().filter(|command| {
            matches!(command, Command::MoveAnchored { by: [x, _, _], .. } if *x == 100.0)
                || matches!(command, Command::Grab { target: [x, _, _], .. } if *x == 99.0)
        });
        assert_eq!(moved.count(), 4);
        // A release in between keeps what came before it apart from what comes after.
        add_command(&mut waiting, Command::Release { body: "a".into(), vertex: 3 });
        let again = waiting[0].clone();
        add_command(&mut waiting, again);
        assert_eq!(waiting.len(), 6);
    }
}
