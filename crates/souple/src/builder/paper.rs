//! Sheets of paper of a scene: pattern, border and handles checked, the first sheet made.

use glam::{DVec2, DVec3};

use super::{Checked, finite, positive, vector, wrong};
use crate::error::SceneError;
use crate::math::rotation;
use crate::model::{BodyModel, PinCarrier};
use crate::paper::{
    BorderSource, Case, HandleModel, PaperError, PaperModel, Pattern, Rules, Scratch, along, laid_flat,
    outline,
};
use crate::scene::{BorderKey, GrowingBorder, Paper, PaperBorder, PaperHandle, Placement, Scene, Vec3};

/// Key frames of a border that grows: in between, points go straight, and lengths are off by a millionth.
const GROWING_STEPS: u32 = 60;

/// Compiles a sheet. A body that gives it its border is drawn by it from then on.
pub(super) fn build_paper(at: &str, paper: &Paper, bodies: &mut [BodyModel]) -> Checked<PaperModel> {
    let refuse = |field: &str| {
        let field = format!("{at}.{field}");
        move |error: PaperError| SceneError::new(field.clone(), error.to_string(), help(&error))
    };
    let place = placement(at, &paper.placement)?;
    let has_own =
        matches!(paper.border, PaperBorder::Case(_) | PaperBorder::Growing(_) | PaperBorder::Body(_));
    if has_own && (paper.size.is_some() || !paper.pattern.is_empty()) {
        return wrong(
            &format!("{at}.border"),
            "this border has a pattern of its own",
            "leave out `size` and `pattern`",
        );
    }
    let own = || match (paper.size, paper.pattern.is_empty()) {
        (Some([width, height]), true) => Pattern::rectangle(width, height).map_err(refuse("size")),
        (None, false) => {
            let corners: Vec<DVec2> = paper.pattern.iter().map(|p| DVec2::from(*p)).collect();
            Pattern::new(&corners).map_err(refuse("pattern"))
        }
        _ => wrong(
            &format!("{at}.size"),
            "the sheet needs `size` or `pattern`, and not both",
            "write `size = [0.297, 0.21]` for A4",
        ),
    };
    let border = refuse("border");
    let (rules, source, start) = match &paper.border {
        PaperBorder::Flat => {
            let rules = Rules::new(own()?, paper.folding).map_err(refuse("folding"))?;
            let start = rules.flat(|p| place(DVec3::new(p.x, 0.0, -p.y)));
            (rules, BorderSource::Held, start)
        }
        PaperBorder::Points(points) => {
            let rules = Rules::new(own()?, paper.folding).map_err(refuse("folding"))?;
            let points: Vec<DVec3> =
                vectors(&format!("{at}.border.points"), points)?.into_iter().map(place).collect();
            let start = rules.matched(&points).map_err(border)?;
            (rules, BorderSource::Held, start)
        }
        PaperBorder::Keys(keys) => {
            let rules = Rules::new(own()?, paper.folding).map_err(refuse("folding"))?;
            let keys = border_keys(&format!("{at}.border.keys"), keys, place)?;
            let first = keys.first().map_or(&[][..], |(_, points)| points);
            let start = rules.matched(first).map_err(border)?;
            (rules, BorderSource::Keys(keys), start)
        }
        PaperBorder::Growing(GrowingBorder { case, seconds }) => {
            let case = known_case(&format!("{at}.border.growing.case"), case)?;
            let seconds = positive(&format!("{at}.border.growing.seconds"), *seconds, "s")?;
            let (pattern, borders) = case.growing(GROWING_STEPS).map_err(refuse("border.growing"))?;
            let rules = Rules::new(pattern, paper.folding).map_err(refuse("folding"))?;
            let turned = |p: &DVec3| place(DVec3::new(p.x, p.z, -p.y));
            let keys: Vec<(f64, Vec<DVec3>)> = (0u32..)
                .zip(&borders)
                .map(|(k, border)| {
                    let time = seconds * f64::from(k) / f64::from(GROWING_STEPS);
                    (time, border.iter().map(turned).collect())
                })
                .collect();
            let start = rules.matched(&keys[0].1).map_err(border)?;
            (rules, BorderSource::Keys(keys), start)
        }
        PaperBorder::Case(name) => {
            let case = known_case(&format!("{at}.border.case"), name)?;
            let (pattern, points) = case.make().map_err(refuse("border.case"))?;
            let rules = Rules::new(pattern, paper.folding).map_err(refuse("folding"))?;
            let points: Vec<DVec3> = points.iter().map(|p| place(DVec3::new(p.x, p.z, -p.y))).collect();
            let start = rules.matched(&points).map_err(border)?;
            (rules, BorderSource::Held, start)
        }
        PaperBorder::Body(name) => {
            let field = format!("{at}.border.body");
            let (pattern, source, points) = of_body(&field, name, bodies)?;
            let rules = Rules::new(pattern, paper.folding).map_err(refuse("folding"))?;
            let start = rules.matched(&points).map_err(border)?;
            (rules, source, start)
        }
    };
    if !paper.handles.is_empty() && source != BorderSource::Held {
        return wrong(
            &format!("{at}.handle"),
            "this border is moved by something else already",
            "leave the handles out, or let the border be flat or one that stands still",
        );
    }
    let handles = (paper.handles.iter().enumerate())
        .map(|(k, handle)| build_handle(&format!("{at}.handle[{k}]"), handle, &rules.pattern));
    let handles = handles.collect::<Checked<Vec<_>>>()?;
    let mut model = PaperModel { name: paper.name.clone(), rules, source, handles, start };
    // Handles have their places from the first frame on.
    let mut first = model.begin();
    model.advance(&mut first, &mut Scratch::default(), 0.0, |_| None).map_err(refuse("handle"))?;
    model.start = first.crumple;
    Ok(model)
}

fn known_case(field: &str, name: &str) -> Checked<Case> {
    match Case::named(name) {
        Some(case) => Ok(case),
        None => wrong(
            field,
            format!("there is no border '{name}'"),
            format!("known: {}", Case::ALL.map(Case::name).join(", ")),
        ),
    }
}

/// Supports along the outline of a flat body that follow the border of a sheet of the same pattern.
pub(super) fn carry_pins_by_paper(
    scene: &Scene,
    papers: &[PaperModel],
    bodies: &mut [BodyModel],
) -> Checked<()> {
    for (b, (written, body)) in scene.bodies.iter().zip(bodies).enumerate() {
        for (p, (pin, set)) in written.pins.iter().zip(&mut body.pins).enumerate() {
            let Some(name) = &pin.paper else { continue };
            let at = format!("body[{b}].pin[{p}].paper");
            if pin.motion.is_some() || pin.follow.is_some() {
                return wrong(
                    &at,
                    "the supports are moved by something else already",
                    "leave out `motion` and `follow`, or `paper`",
                );
            }
            let Some(found) = papers.iter().position(|paper| paper.name == *name) else {
                let known = papers.iter().map(|p| format!("'{}'", p.name)).collect::<Vec<_>>().join(", ");
                return wrong(&at, format!("there is no paper '{name}'"), format!("there are: {known}"));
            };
            let placement = &scene.papers[found].placement;
            let rest = &body.topology.rest_positions;
            set.carrier = PinCarrier::Paper(carried(&at, &papers[found], placement, rest, &set.vertices)?);
        }
    }
    Ok(())
}

/// Where vertices of a body are at the times of the key frames of a sheet.
fn carried(
    at: &str,
    paper: &PaperModel,
    placement: &Placement,
    rest: &[DVec3],
    vertices: &[u32],
) -> Checked<Vec<(f64, Vec<DVec3>)>> {
    let BorderSource::Keys(keys) = &paper.source else {
        return wrong(
            at,
            format!("the border of '{}' has no key frames that supports could follow", paper.name),
            "write `border = { growing = { case = \"pinched\" } }` or `border = { keys = [...] }`",
        );
    };
    // In the frame of the sheet, where its pattern lies on the ground.
    let turn = rotation(DVec3::from(placement.rotate_deg));
    let local: Vec<DVec3> = rest.iter().map(|p| turn.inverse() * *p).collect();
    let flat = |p: DVec3| DVec2::new(p.x, -p.z);
    let least = |points: &mut dyn Iterator<Item = DVec2>| points.fold(DVec2::INFINITY, DVec2::min);
    let pattern = &paper.rules.pattern;
    let apart = least(&mut local.iter().map(|p| flat(*p))) - least(&mut pattern.corners().iter().copied());
    let height = local.first().map_or(0.0, |p| p.y);
    let near = 1e-3 * pattern.longest_side();
    if let Some(v) = local.iter().position(|p| (p.y - height).abs() > near) {
        return wrong(
            at,
            format!(
                "the body does not lie flat as the pattern of '{}': particle {v} is {:.3} m off",
                paper.name,
                (local[v].y - height).abs()
            ),
            "take a grid in the plane `xz`",
        );
    }
    let mut shares = Vec::new();
    for &v in vertices {
        let (share, off) = pattern.nearest(flat(local[v as usize]) - apart);
        if off > near {
            return wrong(
                at,
                format!("particle {v} is {off:.3} m from the outline of the pattern of '{}'", paper.name),
                "choose borders of a grid that is as large as the pattern",
            );
        }
        shares.push(share);
    }
    let offset = turn * DVec3::new(apart.x, height, -apart.y) - DVec3::from(placement.translate);
    let refuse = |error: PaperError| SceneError::new(at, error.to_string(), help(&error));
    let places = |(time, points): &(f64, Vec<DVec3>)| {
        let there = along(pattern, points, &shares).map_err(refuse)?;
        Ok((*time, there.into_iter().map(|p| p + offset).collect()))
    };
    keys.iter().map(places).collect()
}

fn help(error: &PaperError) -> &'static str {
    match error {
        PaperError::Length { .. } => "the border has to go once around the pattern",
        PaperError::NotClosed { .. } => "the curve is closed from its last point to its first",
        PaperError::SidesCross(..) => "a star is fine, a figure of eight is not",
        _ => "see the page on paper in the book",
    }
}

/// Moves and turns; a scale would change lengths, which paper does not.
fn placement(at: &str, placement: &Placement) -> Checked<impl Fn(DVec3) -> DVec3 + Copy + use<>> {
    if placement.scale != 1.0 {
        return wrong(
            &format!("{at}.placement.scale"),
            "paper does not stretch, so its border cannot be scaled",
            "give `size` or `pattern` as large as they are to be",
        );
    }
    let turn = rotation(vector(&format!("{at}.placement.rotate_deg"), placement.rotate_deg)?);
    let shift = vector(&format!("{at}.placement.translate"), placement.translate)?;
    Ok(move |p: DVec3| turn * p + shift)
}

fn vectors(field: &str, points: &[Vec3]) -> Checked<Vec<DVec3>> {
    points.iter().enumerate().map(|(k, p)| vector(&format!("{field}[{k}]"), *p)).collect()
}

fn border_keys(
    field: &str,
    keys: &[BorderKey],
    place: impl Fn(DVec3) -> DVec3 + Copy,
) -> Checked<Vec<(f64, Vec<DVec3>)>> {
    let Some(first) = keys.first() else {
        return wrong(field, "there is no key frame", "give at least one, with `time` and `points`");
    };
    let mut built: Vec<(f64, Vec<DVec3>)> = Vec::new();
    for (k, key) in keys.iter().enumerate() {
        let at = format!("{field}[{k}]");
        let time = finite(&format!("{at}.time"), key.time)?;
        if built.last().is_some_and(|(before, _)| time <= *before) {
            return wrong(&format!("{at}.time"), "key frames must be in order of time", "sort them");
        }
        if key.points.len() != first.points.len() {
            return wrong(
                &format!("{at}.points"),
                format!("it has {} points, and the first key has {}", key.points.len(), first.points.len()),
                "give every key the same points in the same order",
            );
        }
        let points = vectors(&format!("{at}.points"), &key.points)?;
        built.push((time, points.into_iter().map(place).collect()));
    }
    Ok(built)
}

fn build_handle(at: &str, handle: &PaperHandle, pattern: &Pattern) -> Checked<HandleModel> {
    let count = pattern.corners().len();
    let share = match (handle.corner, handle.at) {
        // Where the pattern was turned round, corners are counted the other way.
        (Some(corner), None) if corner < count => {
            let counted = if pattern.is_reversed() { (count - corner) % count } else { corner };
            pattern.corner_share(counted)
        }
        (Some(corner), None) => {
            return wrong(
                &format!("{at}.corner"),
                format!("there is no corner {corner}: the pattern has {count}"),
                "corners are counted from 0",
            );
        }
        (None, Some(share)) if (0.0..=1.0).contains(&share) => {
            if pattern.is_reversed() {
                1.0 - share
            } else {
                share
            }
        }
        (None, Some(share)) => {
            return wrong(
                &format!("{at}.at"),
                format!("{share} is no share of the outline"),
                "give a number from 0 to 1",
            );
        }
        _ => {
            return wrong(
                &format!("{at}.corner"),
                "a handle needs `corner` or `at`, and not both",
                "e.g. `corner = 2`",
            );
        }
    };
    if handle.keys.is_empty() {
        return wrong(&format!("{at}.keys"), "a handle without keys is nowhere", "give one with its `place`");
    }
    let mut keys: Vec<(f64, DVec3)> = Vec::new();
    for (k, key) in handle.keys.iter().enumerate() {
        let field = format!("{at}.keys[{k}]");
        let time = finite(&format!("{field}.time"), key.time)?;
        if keys.last().is_some_and(|(before, _)| time <= *before) {
            return wrong(&format!("{field}.time"), "key frames must be in order of time", "sort them");
        }
        keys.push((time, vector(&format!("{field}.place"), key.place)?));
    }
    Ok(HandleModel { share, keys })
}

/// Pattern, source and first border of the sheet that a body is drawn as.
fn of_body(
    field: &str,
    name: &str,
    bodies: &mut [BodyModel],
) -> Checked<(Pattern, BorderSource, Vec<DVec3>)> {
    let known = bodies.iter().map(|b| format!("'{}'", b.name)).collect::<Vec<_>>().join(", ");
    let Some((body, model)) = bodies.iter_mut().enumerate().find(|(_, b)| b.name == name) else {
        return wrong(field, format!("there is no body '{name}'"), format!("there are: {known}"));
    };
    let topology = &model.topology;
    let refuse =
        |error: PaperError| SceneError::new(field, error.to_string(), "take a plain sheet, a grid say");
    let ring = outline(&topology.triangles).map_err(refuse)?;
    let rest = &topology.rest_positions;
    let Some(flat) = laid_flat(rest, &topology.triangles) else {
        return wrong(
            field,
            format!("body '{name}' is not flat at rest, so it has no pattern"),
            "take a grid",
        );
    };
    let n = ring.len();
    let at = |k: usize| flat[ring[k % n] as usize];
    let turns = |k: usize| {
        let (a, c) = (at(k) - at(k + n - 1), at(k + 1) - at(k));
        a.perp_dot(c).abs() > 1e-6 * a.length() * c.length()
    };
    let first = (0..n).find(|&k| turns(k)).unwrap_or(0);
    let corners: Vec<DVec2> = (first..first + n).filter(|k| turns(k % n)).map(at).collect();
    let pattern = Pattern::new(&corners).map_err(refuse)?;
    let around: Vec<u32> = (first..first + n).map(|k| ring[k % n]).collect();
    let points = around.iter().map(|&v| rest[v as usize]).collect();
    model.is_paper = true;
    Ok((pattern, BorderSource::Body { body, around }, points))
}

#[cfg(test)]
mod tests {
    use crate::scene::{Body, Folding, Grid, HandleKey, Scene, Shape, Time};
    use crate::{Command, ModelBuilder, Simulation, WarningKind};

    use super::*;

    fn scene(paper: Paper) -> Scene {
        let paper = Paper { name: "a4".into(), ..paper };
        Scene { papers: vec![paper], time: Time { fps: 60.0, frames: 10 }, ..Scene::default() }
    }

    fn a4() -> Paper {
        // Few vertices: tests are about what moves a sheet, not about how well it is folded.
        let folding = Folding { step: Some(0.03), ..Folding::default() };
        Paper { size: Some([0.297, 0.21]), folding, ..Paper::default() }
    }

    fn handle(corner: usize, keys: &[(f64, [f64; 3])]) -> PaperHandle {
        let keys = keys.iter().map(|&(time, place)| HandleKey { time, place }).collect();
        PaperHandle { corner: Some(corner), at: None, keys }
    }

    fn dragged() -> Scene {
        let moves = [(0.0, [0.297, 0.0, -0.21]), (0.15, [0.23, 0.07, -0.17])];
        let handles =
            vec![handle(0, &[(0.0, [0.0; 3])]), handle(1, &[(0.0, [0.297, 0.0, 0.0])]), handle(2, &moves)];
        scene(Paper { handles, ..a4() })
    }

    fn run(scene: &Scene) -> Simulation {
        Simulation::new(ModelBuilder::new(scene).build().unwrap())
    }

    fn problem(paper: Paper) -> String {
        ModelBuilder::new(&scene(paper)).build().err().map_or("no error".into(), |error| error.to_string())
    }

    #[test]
    fn handles_move_a_sheet_and_a_restored_run_goes_on_with_the_same_bits() {
        let scene = dragged();
        let mut one = run(&scene);
        assert!(one.state().papers[0].crumple.sheet.isometry().strain < 1e-6, "flat at first");
        (0..6).for_each(|_| one.step());
        let snapshot = one.snapshot();
        (0..6).for_each(|_| one.step());
        let mut other = run(&scene).with_threads(2).unwrap();
        other.restore(&snapshot).unwrap();
        (0..6).for_each(|_| other.step());
        assert_eq!(one.state_hash(), other.state_hash());
        assert_eq!(one.state().papers, other.state().papers);
        let corner = one.state().papers[0].crumple.border.at(one.model().papers[0].handles[2].share);
        assert!(corner.distance(DVec3::new(0.23, 0.07, -0.17)) < 1e-3, "{corner}");
        // Damage is noticed, whatever it hits.
        let broken = |at: usize| {
            let mut bytes = snapshot.clone();
            bytes[at] ^= 0x41;
            other.model().papers.len() == 1 && run(&scene).restore(&bytes).is_err()
        };
        assert!((0..snapshot.len()).step_by(97).all(broken));
        // Another angle of creases keeps the border; another pattern begins anew.
        let mut changed = scene.clone();
        changed.papers[0].folding.crease_deg = 40.0;
        other.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert_eq!(other.state().papers[0].crumple.border, one.state().papers[0].crumple.border);
        changed.papers[0].size = Some([0.4, 0.21]);
        other.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert_eq!(other.state().papers[0].remade, 0);
    }

    #[test]
    fn hands_pull_any_point_and_leave_it_where_it_is() {
        let mut simulation = run(&dragged());
        let share = simulation.model().papers[0].rules.pattern.corner_share(3);
        let pull = |at: f64, place| Command::PullPaper { paper: "a4".into(), at, place };
        simulation.command(pull(share, Some([0.02, 0.05, -0.19]))).unwrap();
        simulation.step();
        let place = |simulation: &Simulation| simulation.state().papers[0].crumple.border.at(share);
        assert!(place(&simulation).distance(DVec3::new(0.02, 0.05, -0.19)) < 1e-3);
        simulation.command(pull(share, None)).unwrap();
        simulation.step();
        assert!(simulation.state().papers[0].hands.is_empty());
        assert!(place(&simulation).y > 0.02, "it stays up: {}", place(&simulation));
        // A handle that is pulled goes on with its keys from there.
        simulation.command(pull(0.0, Some([0.01, 0.0, 0.0]))).unwrap();
        simulation.step();
        assert!((simulation.state().papers[0].offsets[0] - DVec3::new(0.01, 0.0, 0.0)).length() < 1e-12);
        for bad in [pull(1.5, None), pull(0.5, Some([f64::NAN; 3]))] {
            assert!(simulation.command(bad).is_err());
        }
        let nobody = Command::PullPaper { paper: "b5".into(), at: 0.0, place: None };
        assert!(simulation.command(nobody).is_err());
    }

    #[test]
    fn a_sheet_follows_keys_or_a_body() {
        let square = |y: f64| vec![[0.0, 0.0, 0.0], [0.297, 0.0, 0.0], [0.297, y, -0.2], [0.0, y, -0.2]];
        let keys =
            vec![BorderKey { time: 0.0, points: square(0.0) }, BorderKey { time: 0.1, points: square(0.06) }];
        let mut simulation = run(&scene(Paper { border: PaperBorder::Keys(keys), ..a4() }));
        (0..8).for_each(|_| simulation.step());
        let highest = |s: &Simulation| {
            s.state().papers[0].crumple.sheet.places.iter().map(|p| p.y).fold(f64::MIN, f64::max)
        };
        assert!((highest(&simulation) - 0.06).abs() < 0.02, "{}", highest(&simulation));
        // A cloth that falls takes its sheet along, and is not seen itself.
        let body = Body {
            name: "cloth".into(),
            fabric: Some("cotton".into()),
            shape: Shape::Grid(Grid { size: [0.3, 0.2], vertices: [5, 4], ..Grid::default() }),
            ..Body::default()
        };
        let border = PaperBorder::Body("cloth".into());
        let paper = Paper { border, size: None, ..a4() };
        let mut falling = Scene { bodies: vec![body], ..scene(paper.clone()) };
        let mut simulation = run(&falling);
        assert!(simulation.model().bodies[0].is_worn());
        (0..5).for_each(|_| simulation.step());
        let fallen = simulation.state().bodies[0].x[0].y;
        assert!(fallen < -0.01 && (highest(&simulation) - fallen).abs() < 1e-3);
        // A border that is far too long is told of, once, and the sheet stays as it was.
        let large = square(0.0).iter().map(|p| p.map(|c| 10.0 * c)).collect();
        let keys =
            vec![BorderKey { time: 0.0, points: square(0.0) }, BorderKey { time: 0.01, points: large }];
        let mut torn = run(&scene(Paper { border: PaperBorder::Keys(keys), ..a4() }));
        let before = torn.state().papers[0].crumple.clone();
        (0..3).for_each(|_| torn.step());
        assert_eq!(torn.state().papers[0].crumple, before);
        let told = torn.warnings().iter().filter(|w| matches!(w.kind, WarningKind::NoBorder(_)));
        assert_eq!(told.count(), 1);
        falling.papers[0].border = PaperBorder::Body("nobody".into());
        assert!(ModelBuilder::new(&falling).build().unwrap_err().to_string().contains("there is no body"));
    }

    #[test]
    fn borders_that_are_far_off_are_told_of() {
        let square = |side: f64| vec![[0.0; 3], [side, 0.0, 0.0], [side, 0.0, -side], [0.0, 0.0, -side]];
        let told = |points: Vec<Vec3>, repair: bool| {
            let folding = Folding { repair, ..a4().folding };
            let scene =
                scene(Paper { size: Some([0.2, 0.2]), border: PaperBorder::Points(points), folding, ..a4() });
            let lints = crate::check::lint(&scene, &ModelBuilder::new(&scene).build().unwrap());
            lints.into_iter().map(|l| l.message).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(told(square(0.21), true), "");
        assert!(
            told(square(0.24), true).contains("20.0 % longer") && told(square(0.24), true).contains("mended")
        );
        assert!(told(square(0.16), false).contains("20.0 % shorter"), "{}", told(square(0.16), false));
        // A figure of eight has the wrong lengths somewhere.
        let eight = vec![[0.0; 3], [0.2, 0.0, 0.0], [0.0, 0.0, -0.2], [0.2, 0.0, -0.2]];
        assert!(told(eight, true).contains("longer"));
    }

    #[test]
    fn bad_sheets_are_named() {
        let points = |points: Vec<Vec3>| Paper { border: PaperBorder::Points(points), ..a4() };
        let with = |handles: Vec<PaperHandle>| Paper { handles, ..a4() };
        let key = |time: f64| (time, [0.0; 3]);
        let cases = [
            (Paper { size: None, ..a4() }, "paper[0].size"),
            (Paper { pattern: vec![[0.0; 2]; 3], ..a4() }, "paper[0].size"),
            (Paper { size: Some([0.0, 1.0]), ..a4() }, "no length"),
            (
                Paper { border: PaperBorder::Case("crane".into()), size: None, ..a4() },
                "there is no border 'crane'",
            ),
            (Paper { border: PaperBorder::Case("bent".into()), ..a4() }, "a pattern of its own"),
            (points(vec![[0.0; 3], [f64::NAN; 3], [1.0; 3]]), "paper[0].border.points[1]"),
            (points(vec![[0.0; 3], [9.0, 0.0, 0.0], [9.0, 9.0, 0.0]]), "check the units"),
            (Paper { border: PaperBorder::Keys(Vec::new()), ..a4() }, "no key frame"),
            (with(vec![handle(9, &[key(0.0)])]), "there is no corner 9"),
            (with(vec![handle(0, &[])]), "handle[0].keys"),
            (with(vec![handle(0, &[key(1.0), key(0.5)])]), "in order of time"),
            (
                with(vec![PaperHandle { at: Some(2.0), keys: vec![HandleKey::default()], corner: None }]),
                "no share",
            ),
            (Paper { folding: Folding { tolerance: -1.0, ..Folding::default() }, ..a4() }, "tolerance is -1"),
            (
                Paper { placement: Placement { scale: 2.0, ..Placement::default() }, ..a4() },
                "paper[0].placement.scale",
            ),
        ];
        for (paper, complaint) in cases {
            let found = problem(paper);
            assert!(found.contains(complaint), "{complaint}: {found}");
        }
        let unnamed = Scene { papers: vec![a4()], ..Scene::default() };
        assert!(ModelBuilder::new(&unnamed).build().unwrap_err().to_string().contains("paper[0].name"));
    }
}
