//! Checks the numbers of looks and views. Names of parameters are the viewer's business: styles declare their own.

use super::{Checked, direction, finite, vector, wrong};
use crate::scene::{Look, Vec3, View};

pub(super) fn check_view(view: &View) -> Checked<()> {
    direction("view.light", view.light)?;
    check_colour("view.background", view.background)?;
    let Some(camera) = &view.camera else { return Ok(()) };
    let position = vector("view.camera.position", camera.position)?;
    if position == vector("view.camera.target", camera.target)? {
        return wrong(
            "view.camera.target",
            "the camera stands on what it looks at",
            "move its position or its target",
        );
    }
    if !(1.0..=150.0).contains(&camera.field_of_view_deg) {
        return wrong(
            "view.camera.field_of_view_deg",
            format!("{} degrees are out of range", camera.field_of_view_deg),
            "give 1 to 150; 35 is usual",
        );
    }
    Ok(())
}

pub(super) fn check_look(at: &str, look: Option<&Look>) -> Checked<()> {
    let Some(look) = look else { return Ok(()) };
    check_colour(&format!("{at}.look.colour"), look.colour)?;
    check_colour(&format!("{at}.look.back_colour"), look.back_colour)?;
    for (name, value) in &look.parameters {
        finite(&format!("{at}.look.parameters.{name}"), *value)?;
    }
    let field = format!("{at}.look.range");
    match look.range {
        // Colours are computed in single precision: what is one number there is no range.
        Some([low, high]) if finite(&field, low)? as f32 >= finite(&field, high)? as f32 => {
            wrong(&field, format!("it must go upwards, but goes from {low} to {high}"), "e.g. [0, 0.1]")
        }
        Some(range) if range.iter().any(|end| end.abs() > 1e30) => {
            wrong(&field, format!("{range:?} is beyond what can be drawn"), "1e30 is the most")
        }
        _ => Ok(()),
    }
}

fn check_colour(field: &str, colour: Option<Vec3>) -> Checked<()> {
    match colour {
        Some(c) if !c.iter().all(|part| (0.0..=1.0).contains(part)) => {
            wrong(field, format!("{c:?} is not a colour"), "give red, green and blue from 0 to 1")
        }
        _ => Ok(()),
    }
}
