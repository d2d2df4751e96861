//! Which changes of a scene the running simulation cannot take over, and which hold only from its next start.
//!
//! The engine carries a running state over to a changed model as long as bodies, meshes and supports are the same
//! (`Simulation::adopt`); where things *start* is that of the next start. Here the same is said of scenes as they are
//! written, so that the window can tell before anything is compiled.

use souple::scene::Scene;

/// Whether bodies were added or removed: what runs and what is written cannot be told of each other by number then.
pub fn bodies_differ(started: &Scene, edited: &Scene) -> bool {
    started.bodies.len() != edited.bodies.len()
}

/// Whether things were added, removed, renamed or reordered that only a new start can bring in.
fn parts_differ(started: &Scene, edited: &Scene) -> bool {
    let names = |scene: &Scene| -> Vec<(String, Vec<String>)> {
        let pins = |body: &souple::scene::Body| body.pins.iter().map(|pin| pin.name.clone()).collect();
        scene.bodies.iter().map(|body| (body.name.clone(), pins(body))).collect()
    };
    names(started) != names(edited)
}

/// What holds only after the next start, for people; `None` when the running scene is what is written.
pub fn start_difference(started: &Scene, edited: &Scene) -> Option<String> {
    if parts_differ(started, edited) {
        return Some("bodies or pin sets were added, removed or renamed".into());
    }
    for (was, is) in started.bodies.iter().zip(&edited.bodies) {
        let name = &is.name;
        if was.shape != is.shape {
            return Some(format!("the shape of '{name}' is another one"));
        }
        if was.placement != is.placement {
            return Some(format!("'{name}' starts at another place"));
        }
        if was.velocity != is.velocity {
            return Some(format!("'{name}' starts with another speed"));
        }
        if let Some((_, pin)) = was.pins.iter().zip(&is.pins).find(|(was, is)| was.select != is.select) {
            return Some(format!("the pin set '{}' of '{name}' holds other particles", pin.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use souple::scene::{Body, Pin, Select, Springs};

    use super::*;

    fn scene() -> Scene {
        let pin = Pin { name: "left".into(), select: Select::Near([0.0; 3]), ..Pin::default() };
        let body = Body { name: "cloth".into(), pins: vec![pin], ..Body::default() };
        Scene { bodies: vec![body], ..Scene::default() }
    }

    #[test]
    fn what_acts_on_a_body_may_change_while_it_runs() {
        let mut edited = scene();
        edited.gravity = [0.0; 3];
        edited.bodies[0].mass = Some(2.0);
        edited.bodies[0].springs = Springs::default();
        edited.bodies[0].springs.stretch.stiffness = Some(7.0);
        edited.colliders.push(Default::default());
        assert_eq!(start_difference(&scene(), &edited), None);
    }

    #[test]
    fn where_it_starts_and_what_it_is_needs_a_start() {
        let change = |edit: fn(&mut Scene)| {
            let mut edited = scene();
            edit(&mut edited);
            (bodies_differ(&scene(), &edited), start_difference(&scene(), &edited).is_some())
        };
        assert_eq!(change(|s| s.bodies[0].placement.translate[1] = 1.0), (false, true));
        assert_eq!(change(|s| s.bodies[0].velocity[0] = 1.0), (false, true));
        assert_eq!(change(|s| s.bodies[0].pins[0].select = Select::All), (false, true));
        assert_eq!(change(|s| s.bodies[0].pins[0].name = "right".into()), (false, true));
        assert_eq!(change(|s| s.bodies[0].name = "sail".into()), (false, true));
        assert_eq!(change(|s| s.bodies[0].pins.clear()), (false, true));
        assert_eq!(change(|s| s.bodies.push(Body::default())), (true, true));
        assert_eq!(
            change(|s| s.bodies[0].shape = souple::scene::Shape::Rope(Default::default())),
            (false, true)
        );
        assert_eq!(change(|_| ()), (false, false));
    }
}
