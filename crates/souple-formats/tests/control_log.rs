//! Control logs: round trips, order, lines in errors, and any text at all.

use proptest::prelude::*;
use souple::{Command, LoggedCommand, MAX_SELECTION};
use souple_formats::control_log::{
    ControlLogError, MAX_LINE_BYTES, read_control_log, read_numbered_commands, write_control_log,
};

const LIFT: &str = r#"{"step":10,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.01,0]}}}"#;

fn error(text: &str) -> ControlLogError {
    read_control_log(text).unwrap_err()
}

#[test]
fn a_line_is_a_command() {
    let log = read_control_log(LIFT).unwrap();
    let command = Command::MovePin { body: "cloth".into(), pin: "left".into(), by: [0.0, 0.01, 0.0] };
    assert_eq!(log, [LoggedCommand { step: 10, command }]);
}

#[test]
fn blank_lines_are_skipped_and_lines_counted() {
    let text = format!("\u{feff}\r\n{LIFT}\r\n\n   \n{LIFT}\n");
    let lines: Vec<usize> = read_numbered_commands(&text).unwrap().iter().map(|c| c.line).collect();
    assert_eq!(lines, [2, 5]);
    assert_eq!(read_control_log("").unwrap(), []);
}

#[test]
fn errors_name_the_line_and_what_would_be_right() {
    let unknown = error(&format!("{LIFT}\n{}", LIFT.replace("move_pin", "move_pim")));
    assert_eq!(unknown.line, 2);
    assert!(unknown.message.contains("unknown variant `move_pim`"), "{unknown}");
    assert!(unknown.message.contains("`move_pin`"), "{unknown}");

    let cut = error(&LIFT[..30]);
    assert_eq!(cut.line, 1);
    assert!(cut.message.contains("(column 30)"), "{cut}");
    assert!(!cut.message.contains("at line"), "{cut}");

    for bad in [
        LIFT.replace("0.01", "1e999"),
        LIFT.replace("0.01", "NaN"),
        LIFT.replace("10", "-1"),
        LIFT.replace("10", "1.5"),
        LIFT.replace(",0]", "]"),
        LIFT.replace("\"step\"", "\"stop\""),
        LIFT.replace("\"pin\":\"left\",", ""),
        format!("{LIFT} {LIFT}"),
        "[".repeat(10_000),
    ] {
        assert_eq!(error(&bad).line, 1, "{bad}");
    }
}

#[test]
fn steps_must_not_decrease() {
    let text = format!("{LIFT}\n\n{}", LIFT.replace("10", "9"));
    let early = error(&text);
    assert_eq!(early.line, 3);
    assert!(early.message.contains("step 9 comes after step 10 of line 1"), "{early}");
    assert!(read_control_log(&format!("{LIFT}\n{LIFT}")).is_ok());
}

#[test]
fn a_line_has_a_budget() {
    let long = LIFT.replace("cloth", &"x".repeat(MAX_LINE_BYTES));
    assert!(error(&long).message.contains("one command per line"));
}

#[test]
fn the_largest_selection_fits_on_a_line() {
    let vertices = vec![u32::MAX; MAX_SELECTION];
    let command = Command::AnchorMany { body: "cloth".into(), vertices };
    let log = [LoggedCommand { step: u64::MAX, command }];
    assert_eq!(read_control_log(&write_control_log(&log)).unwrap(), log);
}

#[test]
fn a_command_without_numbers_is_a_bare_name() {
    let text = r#"{"step":40,"do":"stop_blowing"}"#;
    let log = read_control_log(text).unwrap();
    assert_eq!(log, [LoggedCommand { step: 40, command: Command::StopBlowing }]);
    assert_eq!(write_control_log(&log).trim_end(), text);
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn command() -> impl Strategy<Value = Command> {
    let vector = || [number(), number(), number()];
    let name = || any::<String>();
    let vertices = || prop::collection::vec(any::<u32>(), 0..9);
    prop_oneof![
        (name(), name(), vector()).prop_map(|(body, pin, by)| Command::MovePin { body, pin, by }),
        (name(), vector(), vector()).prop_map(|(collider, by, rotate_deg)| Command::MoveCollider {
            collider,
            by,
            rotate_deg
        }),
        (name(), name(), vector(), vector()).prop_map(|(character, bone, by, rotate_deg)| {
            Command::MoveBone { character, bone, by, rotate_deg }
        }),
        (name(), any::<u32>()).prop_map(|(body, vertex)| Command::Anchor { body, vertex }),
        (name(), any::<u32>()).prop_map(|(body, vertex)| Command::Free { body, vertex }),
        (name(), vertices()).prop_map(|(body, vertices)| Command::AnchorMany { body, vertices }),
        (name(), vertices()).prop_map(|(body, vertices)| Command::FreeMany { body, vertices }),
        (name(), vertices(), vector()).prop_map(|(body, vertices, by)| Command::MoveAnchored {
            body,
            vertices,
            by
        }),
        (name(), vector(), vector(), vector()).prop_map(|(body, from, to, eye)| Command::Cut {
            body,
            from,
            to,
            eye
        }),
        (vector(), vector(), number(), number()).prop_map(|(origin, direction, speed, radius)| {
            Command::Blow { origin, direction, speed, radius }
        }),
        Just(Command::StopBlowing),
        (name(), any::<u32>(), vector(), number()).prop_map(|(body, vertex, target, stiffness)| {
            Command::Grab { body, vertex, target, stiffness }
        }),
        (name(), any::<u32>()).prop_map(|(body, vertex)| Command::Release { body, vertex }),
        vector().prop_map(|velocity| Command::SetWind { velocity }),
        name().prop_map(|body| Command::Thaw { body }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(
        mut steps in prop::collection::vec(any::<u64>(), 0..20),
        commands in prop::collection::vec(command(), 20),
    ) {
        steps.sort_unstable();
        let log: Vec<LoggedCommand> =
            steps.into_iter().zip(commands).map(|(step, command)| LoggedCommand { step, command }).collect();
        let text = write_control_log(&log);
        prop_assert_eq!(text.lines().count(), log.len());
        let back = read_control_log(&text).unwrap();
        // Debug text tells 0.0 from -0.0, which `==` does not.
        prop_assert_eq!(format!("{:?}", back), format!("{:?}", log));
    }

    #[test]
    fn any_text_gives_a_log_or_an_error_in_one_of_its_lines(
        text in r#"([\{\}\[\]":,0-9eE+\-. \n]|step|do|move_pin|thaw|body|null|é){0,200}"#
    ) {
        if let Err(error) = read_control_log(&text) {
            prop_assert!((1..=text.lines().count()).contains(&error.line));
        }
    }

    #[test]
    fn a_log_cut_anywhere_is_refused_or_shorter(cut in 0..LIFT.len() * 3) {
        let text = format!("{LIFT}\n{LIFT}\n{LIFT}\n");
        let whole_lines = cut / (LIFT.len() + 1);
        match read_control_log(&text[..cut]) {
            Ok(log) => prop_assert_eq!(log.len(), (cut + 1) / (LIFT.len() + 1)),
            Err(error) => prop_assert_eq!(error.line, whole_lines + 1),
        }
    }
}
