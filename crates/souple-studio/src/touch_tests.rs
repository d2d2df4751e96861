// Tests of the gizmo, the scissors and the fan, on the table of the tests of tools.

use super::*;
use crate::gizmo::GIZMO_PIXELS;

// ---- the gizmo ----

#[test]
fn an_arm_moves_along_its_axis_and_frees_what_was_free() {
    let chosen = [at(9, 10), at(10, 9), at(10, 10), at(11, 12)];
    for arm in 0..3 {
        let (mut table, middle, ends) = with_gizmo(&chosen);
        let before: Vec<Vec3> = chosen.iter().map(|v| table.vertex(0, *v)).collect();
        let (from, along) = (middle.lerp(ends[arm], 0.7), (ends[arm] - middle).normalize() * 50.0);
        let grip = table.down(from, NONE);
        let anchored = Command::AnchorMany { body: "cloth".into(), vertices: chosen.to_vec() };
        assert_eq!(grip.commands, [anchored], "arm {arm}");
        table.step();
        let mut sum = Vec3::ZERO;
        for k in 1..=5 {
            let reaction = table.move_to(from + along * (k as f32 / 5.0));
            let [Command::MoveAnchored { body, vertices, by }] = &reaction.commands[..] else {
                panic!("{reaction:?}")
            };
            assert_eq!((body.as_str(), vertices.as_slice()), ("cloth", &chosen[..]));
            sum += single(*by);
            assert!(reaction.camera.is_none());
            table.step();
        }
        let axis = Vec3::AXES[arm];
        assert!(sum.dot(axis) > 0.05 && (sum - axis * sum.dot(axis)).length() < 1e-6, "{arm}: {sum}");
        for (v, before) in chosen.iter().zip(&before) {
            assert!(table.vertex(0, *v).distance(*before + sum) < 1e-5, "the vertices are where the hand is");
        }
        let end = table.up(from + along);
        assert_eq!(end.commands, [Command::FreeMany { body: "cloth".into(), vertices: chosen.to_vec() }]);
        table.step();
        assert_eq!(table.shown.pinned[0].len(), 2, "the corners alone");
    }
}

#[test]
fn the_middle_moves_in_the_plane_of_the_screen() {
    let (mut table, middle, _) = with_gizmo(&[at(10, 10)]);
    let start = table.vertex(0, at(10, 10));
    table.drag(middle, middle + Vec2::new(40.0, 25.0), NONE);
    table.step();
    let sum: Vec3 = table
        .given
        .iter()
        .filter_map(|command| match command {
            Command::MoveAnchored { by, .. } => Some(single(*by)),
            _ => None,
        })
        .sum();
    let view = (table.camera.eye() - table.camera.target).normalize();
    assert!(sum.length() > 0.05 && sum.dot(view).abs() < 1e-5);
    let there = start + sum;
    assert!(table.pixel(there.x, there.y, there.z).distance(middle + Vec2::new(40.0, 25.0)) < 0.1);
}

#[test]
fn supports_move_as_they_are_held() {
    // A corner of a pin set, one that was anchored by hand, and a free one.
    let (hand, free) = (at(5, 5), at(6, 6));
    let (mut table, _, _) = with_gizmo(&[0, hand, free]);
    let anchor = Command::Anchor { body: "cloth".into(), vertex: hand };
    table.take(&Reaction { commands: vec![anchor], ..Reaction::default() });
    table.step();
    let (corner, anchored) = (table.vertex(0, 0), table.vertex(0, hand));
    let middle = {
        let gizmo = Gizmo::of_selection(&table.hands.selection, &table.seen()).unwrap();
        table.camera.pixel(gizmo.centre, SIZE).unwrap()
    };
    let to = middle + Vec2::new(30.0, 0.0);
    table.given.clear();
    assert_eq!(
        table.down(middle, NONE).commands,
        [Command::AnchorMany { body: "cloth".into(), vertices: vec![free] }]
    );
    let reaction = table.move_to(to);
    let [Command::MoveAnchored { vertices, by, .. }, Command::MovePin { pin, by: pin_by, .. }] =
        &reaction.commands[..]
    else {
        panic!("{reaction:?}")
    };
    assert_eq!((vertices.as_slice(), pin.as_str(), by), (&[hand, free][..], "left", pin_by));
    let by = single(*by);
    let end = table.up(to);
    assert_eq!(end.commands, [Command::FreeMany { body: "cloth".into(), vertices: vec![free] }]);
    table.step();
    assert!(table.vertex(0, 0).distance(corner + by) < 1e-5);
    assert!(table.vertex(0, hand).distance(anchored + by) < 1e-5);
    let held: Vec<u32> = table.shown.pinned[0].iter().map(|p| p.vertex).collect();
    assert_eq!(held, [0, 20, hand]);
}

#[test]
fn the_gizmo_is_drawn_and_beside_it_the_view_turns() {
    let (mut table, middle, ends) = with_gizmo(&[at(10, 10)]);
    let marks = table.hands.marks(&table.seen());
    assert_eq!(marks.lines.len(), 3);
    for (line, end) in marks.lines.iter().zip(ends) {
        assert!(table.camera.pixel(line.to, SIZE).unwrap().distance(end) < 1e-3);
        assert!(line.from.distance(table.vertex(0, at(10, 10))) < 1e-6);
        // Facing arms are as long as they should be, others shorter.
        assert!(middle.distance(end) <= GIZMO_PIXELS * 1.1);
    }
    let reactions = table.drag(Vec2::new(600.0, 30.0), Vec2::new(500.0, 30.0), NONE);
    assert!(table.given.is_empty() && reactions[3].camera.is_some());
    // Escape in the middle of a drag frees.
    let (mut table, middle, _) = with_gizmo(&[at(10, 10)]);
    table.down(middle, NONE);
    table.move_to(middle + Vec2::new(20.0, 0.0));
    assert!(matches!(&table.event(Pointer::Cancel).commands[..], [Command::FreeMany { .. }]));
    // Without a selection there is no gizmo.
    table.hands.selection.clear();
    assert!(table.hands.marks(&table.seen()).lines.is_empty());
    assert!(Gizmo::of_selection(&table.hands.selection, &table.seen()).is_none());
}

// ---- scissors and fan ----

/// How many pieces the surface of the cloth has.
fn pieces(table: &Table) -> usize {
    let topology = &table.simulation.state().bodies[0].topology;
    let mut piece: Vec<usize> = (0..topology.len()).collect();
    fn root(piece: &mut [usize], mut v: usize) -> usize {
        while piece[v] != v {
            piece[v] = piece[piece[v]];
            v = piece[v];
        }
        v
    }
    for edge in &topology.edges {
        let (a, b) = (root(&mut piece, edge.i as usize), root(&mut piece, edge.j as usize));
        piece[a] = b;
    }
    (0..piece.len()).filter(|&v| piece[v] == v).count()
}

#[test]
fn scissors_cut_along_the_drag() {
    let mut table = Table::new();
    table.use_tool(Tool::Scissors);
    assert_eq!(pieces(&table), 1);
    // From beside the cloth right across it to the other side, in many small moves.
    let (from, to) = (table.pixel(-0.7, 0.03, 0.0), table.pixel(0.7, 0.07, 0.0));
    table.down(from, NONE);
    for k in 1..=200 {
        table.move_to(from.lerp(to, k as f32 / 200.0));
    }
    let marks = table.hands.marks(&table.seen());
    assert!(marks.lines.len() > 2, "the cut is drawn");
    table.up(to);
    let eye = table.camera.eye();
    let mut pixels = Vec::new();
    for command in &table.given {
        let Command::Cut { body, from, to, eye: from_eye } = command else { panic!("{command:?}") };
        assert_eq!(body, "cloth");
        assert!(single(*from_eye).distance(eye) < 1e-6);
        pixels.push([from, to].map(|p| table.camera.pixel(single(*p), SIZE).unwrap()));
    }
    assert!(pixels.len() > 3, "in pieces, as the drag goes");
    // One piece begins where the last one ended, along the drag, and each is a few edges long.
    let edge = table.pixel(0.05, 0.0, 0.0).x - table.pixel(0.0, 0.0, 0.0).x;
    for pair in pixels.windows(2) {
        assert!(pair[0][1].distance(pair[1][0]) < 0.05, "{pair:?}");
    }
    for [a, b] in &pixels[..pixels.len() - 1] {
        assert!(a.distance(*b) >= 2.0 * edge, "{} of {edge}", a.distance(*b));
        let off = ((*a - from).perp_dot((to - from).normalize())).abs();
        assert!(off < 0.1, "{off}");
    }
    table.step();
    assert_eq!(pieces(&table), 2, "the cloth is in two");
}

#[test]
fn scissors_cut_ropes_and_only_what_they_meet() {
    let mut table = Table::new();
    table.use_tool(Tool::Scissors);
    let (from, to) = (table.pixel(-1.1, 0.1, 0.0), table.pixel(-0.9, 0.12, 0.0));
    table.drag(from, to, NONE);
    assert!(!table.given.is_empty());
    assert!(table.given.iter().all(|c| matches!(c, Command::Cut { body, .. } if body == "rope")));
    let before = table.simulation.state().bodies[1].topology.segments.len();
    table.step();
    assert_eq!(table.simulation.state().bodies[1].topology.segments.len(), before - 1);
    // Over nothing, and over the ball alone.
    table.given.clear();
    table.drag(Vec2::new(10.0, 10.0), Vec2::new(200.0, 10.0), NONE);
    let ball = table.pixel(1.0, 0.0, 0.0);
    table.drag(ball - Vec2::new(0.0, 20.0), ball + Vec2::new(0.0, 20.0), NONE);
    assert_eq!(table.given, []);
    // A click cuts nothing.
    let middle = table.pixel(0.0, 0.0, 0.0);
    table.click(middle, NONE);
    assert_eq!(table.given, []);
}

#[test]
fn the_fan_blows_where_it_points_until_it_is_let_go() {
    let mut table = Table::new();
    table.use_tool(Tool::Fan);
    let (at, beside) = (table.pixel(0.2, -0.1, 0.0), Vec2::new(600.0, 30.0));
    let blow = |reaction: &Reaction| match &reaction.commands[..] {
        [Command::Blow { origin, direction, speed, radius }] => {
            assert!(*speed == 8.0 && *radius > 0.0);
            (single(*origin), single(*direction))
        }
        other => panic!("{other:?}"),
    };
    let (origin, direction) = blow(&table.down(at, NONE));
    let hit = Vec3::new(0.2, -0.1, 0.0);
    assert!((hit - origin).normalize().distance(direction) < 1e-4);
    assert!(origin.z > 0.1 && origin.z < table.camera.eye().z, "between the camera and the cloth");
    let marks = table.hands.marks(&table.seen());
    assert!(marks.lines.iter().any(|line| line.to.distance(hit) < 1e-3));
    table.step();
    assert!(table.shown.fan.is_some());
    table.step();
    let blown = table.vertex(0, 10 * 21 + 14);
    assert!(blown.z < 0.0, "{blown}: away from the person");
    // It follows the pointer, over empty space too.
    let (_, direction) = blow(&table.move_to(beside));
    assert!(direction.distance(table.camera.ray(beside, SIZE).1) < 1e-4);
    let reaction = table.up(beside);
    assert!(matches!(&reaction.commands[..], [Command::Blow { .. }, Command::StopBlowing]));
    table.step();
    assert!(table.shown.fan.is_none());
}
