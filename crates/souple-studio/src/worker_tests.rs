use std::path::Path;
use std::time::Duration;

use glam::DVec3;
use souple::scene::{Body, Family, Grid, Group, Pin, Select, Shape, Springs, Time};

use super::*;
use crate::document::{ClothKind, Document};
use crate::scene_files::SceneFiles;

/// A worker, and a channel that rings at every change.
struct Bench {
    worker: Worker,
    changes: Receiver<()>,
}

impl Bench {
    fn new() -> Bench {
        let (ring, changes) = channel();
        let worker = Worker::spawn(move || {
            let _ = ring.send(());
        });
        Bench { worker, changes }
    }

    /// With a scene, loaded and paused.
    fn with(scene: Scene) -> Bench {
        let bench = Bench::new();
        bench.load(scene);
        bench.until(|shown| shown.scene.is_some());
        bench
    }

    fn load(&self, scene: Scene) {
        let job = job(scene);
        self.worker.send(Request::Build { job, then: Then::Load { keep_playing: false } });
    }

    fn send(&self, requests: impl IntoIterator<Item = Request>) {
        requests.into_iter().for_each(|request| self.worker.send(request));
    }

    /// Waits, without a clock, until what is shown is as it should be.
    fn until(&self, is_so: impl Fn(&Shown) -> bool) -> Arc<Shown> {
        loop {
            let shown = self.worker.shown();
            if is_so(&shown) {
                return shown;
            }
            self.changes.recv().expect("the worker is gone");
        }
    }

    /// Takes steps, and shows the last of them.
    fn steps(&self, count: u64) -> Arc<Shown> {
        let before = self.worker.shown();
        self.send((0..count).map(|_| Request::Step));
        self.until(|shown| shown.run == before.run && shown.moment.step == before.moment.step + count)
    }

    fn until_note(&self, part: &str) -> Note {
        let shown = self.until(|shown| shown.notes.iter().any(|note| note.text.contains(part)));
        shown.notes.iter().rfind(|note| note.text.contains(part)).cloned().unwrap()
    }
}

/// A job for a scene that names no files.
fn job(scene: Scene) -> BuildJob {
    BuildJob { scene: Arc::new(scene), files: SceneFiles::default(), revision: 0 }
}

fn document(scene: Scene) -> Document {
    let mut document = Document::new();
    document.edit("scene", |old| *old = scene);
    document
}

/// A small hanging cloth; quick enough for any pace.
fn scene() -> Scene {
    let pin = |name: &str, vertex: u32| Pin {
        name: name.into(),
        select: Select::Vertices(vec![vertex]),
        motion: None,
        ..Pin::default()
    };
    let body = Body {
        name: "cloth".into(),
        fabric: Some("cotton".into()),
        shape: Shape::Grid(Grid { vertices: [5, 5], ..Grid::default() }),
        pins: vec![pin("left", 0), pin("right", 4)],
        ..Body::default()
    };
    let time = Time { fps: 500.0, frames: 8 };
    Scene { name: "test".into(), time, bodies: vec![body], ..Scene::default() }
}

fn endless() -> Scene {
    Scene { time: Time { fps: 500.0, frames: 1_000_000 }, ..scene() }
}

fn positions(shown: &Shown) -> Vec<glam::Vec3> {
    shown.moment.items[0].positions.to_vec()
}

#[test]
fn a_scene_is_loaded_played_paused_stepped_and_reset() {
    let bench = Bench::new();
    assert!(bench.worker.shown().scene.is_none());
    // Nothing is there to be played: nothing happens.
    bench.send([Request::Play, Request::Step, Request::Reset, Request::Do(vec![Command::StopBlowing])]);
    bench.load(endless());
    let start = bench.until(|shown| shown.scene.is_some());
    assert_eq!((start.moment.step, start.playing, start.run, start.frames), (0, false, 1, 1_000_000));
    assert_eq!((start.fps, start.waiting, start.moment.items.len()), (500.0, 0, 1));
    assert_eq!(start.bodies[0].pin_sets, ["left", "right"]);
    assert_eq!(start.pinned[0].iter().map(|p| p.vertex).collect::<Vec<_>>(), [0, 4]);
    assert_eq!(start.supports.len(), 2);
    assert_eq!(start.graph.nodes[0].name, "test");

    bench.send([Request::Play]);
    let playing = bench.until(|shown| shown.moment.step >= 5);
    assert!(playing.playing && playing.measures.is_some() && playing.step_ms > 0.0);
    let booked: f64 = playing.stage_ms.iter().sum();
    assert!(booked > 0.0 && booked <= playing.step_ms, "{booked} of {}", playing.step_ms);

    bench.send([Request::Pause]);
    let paused = bench.until(|shown| !shown.playing);
    assert_eq!(paused.steps_per_second, 0.0);
    let stepped = bench.steps(1);
    assert!(!stepped.playing && positions(&stepped) != positions(&start));

    bench.send([Request::Reset]);
    let reset = bench.until(|shown| shown.run == 2);
    assert_eq!((reset.moment.step, reset.playing), (0, false));
    assert_eq!(positions(&reset), positions(&start));
    assert!(reset.generation > stepped.generation);
    // A reset while it plays goes on playing.
    bench.send([Request::Play, Request::Reset]);
    bench.until(|shown| shown.run == 3 && shown.playing && shown.moment.step > 0);
}

#[test]
fn the_last_frame_stops_loops_or_is_passed() {
    let bench = Bench::with(scene());
    bench.send([Request::Play]);
    let end = bench.until(|shown| shown.at_end && !shown.playing);
    assert_eq!((end.moment.step, end.run, end.frames), (8, 1, 8));
    // Played again, it begins again.
    bench.send([Request::Play]);
    let end = bench.until(|shown| shown.run == 2 && shown.at_end && !shown.playing);
    assert_eq!(end.moment.step, 8);
    // One step further is one step further.
    assert_eq!(bench.steps(1).moment.step, 9);

    bench.send([Request::SetAtEnd(AtEnd::Loop), Request::Play]);
    let third = bench.until(|shown| shown.run >= 4);
    assert!(third.playing && third.at_end_rule == AtEnd::Loop);
    bench.send([Request::SetAtEnd(AtEnd::GoOn)]);
    let beyond = bench.until(|shown| shown.moment.step >= 12);
    assert!(beyond.playing && beyond.at_end);
    bench.send([Request::SetAtEnd(AtEnd::Stop)]);
    assert!(bench.until(|shown| !shown.playing).moment.step >= 12);
}

#[test]
fn playing_is_never_faster_than_asked() {
    let bench = Bench::with(endless());
    let clock = Instant::now();
    bench.send([Request::SetSpeed(Speed::Times(0.2)), Request::Play]);
    bench.until(|shown| shown.moment.step >= 6);
    // 1/500 s at a fifth of real time is 10 ms; the first of the six steps is taken at once.
    assert!(clock.elapsed() >= Duration::from_millis(50), "{:?}", clock.elapsed());
    bench.send([Request::SetSpeed(Speed::Fastest)]);
    let fast = bench.until(|shown| shown.speed == Speed::Fastest && shown.moment.step >= 60);
    assert!(fast.steps_per_second > 0.0);
    for wrong in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        bench.send([Request::SetSpeed(Speed::Times(wrong))]);
        let note = bench.until_note(&format!("a speed of {wrong} "));
        assert_eq!(note.kind, NoteKind::Problem);
    }
    // So slow that it stands still, and still listens.
    bench.send([Request::SetSpeed(Speed::Times(1e-300))]);
    bench.until(|shown| shown.speed == Speed::Times(1e-300));
    bench.send([Request::Pause]);
    bench.until(|shown| !shown.playing);
}

#[test]
fn a_running_scene_takes_a_change_over_and_goes_on() {
    let bench = Bench::with(endless());
    bench.send([Request::Play]);
    bench.until(|shown| shown.moment.step >= 5);
    let mut document = document(endless());
    document.edit("stiffness", |scene| {
        scene.bodies[0].springs.stretch = Family { modulus: Some(77.0), ..Family::default() };
    });
    let revision = document.revision();
    bench.send([Request::Build { job: document.job(), then: Then::Adopt }]);
    let adopted = bench.until(|shown| shown.revision == Some(revision));
    assert!(adopted.moment.step >= 5 && adopted.playing && adopted.run == 1);
    assert_eq!(adopted.scene.as_ref().unwrap().bodies[0].springs.stretch.modulus, Some(77.0));
    bench.until(|shown| shown.moment.step > adopted.moment.step + 2);

    // Another mesh does not fit: it says so, and the old one goes on.
    document.edit("vertices", |scene| {
        scene.bodies[0].shape = Shape::Grid(Grid { vertices: [7, 7], ..Grid::default() });
    });
    bench.send([Request::Build { job: document.job(), then: Then::Adopt }]);
    let misfit = bench.until(|shown| shown.needs_restart.is_some());
    assert!(misfit.needs_restart.as_ref().unwrap().contains("restart"), "{:?}", misfit.needs_restart);
    assert_eq!((misfit.revision, misfit.run, misfit.bodies[0].vertices), (Some(revision), 1, 25));
    bench.until(|shown| shown.moment.step > misfit.moment.step);
    // A wrong number: the field is named, and the old one goes on.
    document.edit("density", |scene| scene.bodies[0].density = Some(-1.0));
    bench.send([Request::Build { job: document.job(), then: Then::Adopt }]);
    let wrong = bench.until(|shown| shown.build_error.is_some());
    assert!(wrong.build_error.as_ref().unwrap().starts_with("body[0].density"), "{:?}", wrong.build_error);
    bench.until(|shown| shown.moment.step > wrong.moment.step);

    document.undo();
    let job = document.job();
    bench.send([Request::Build { job, then: Then::Load { keep_playing: true } }]);
    let fresh = bench.until(|shown| shown.run == 2);
    assert_eq!((fresh.bodies[0].vertices, &fresh.needs_restart, &fresh.build_error), (49, &None, &None));
    assert_eq!((fresh.playing, fresh.revision), (true, Some(document.revision())));
}

#[test]
fn another_look_is_taken_over_without_a_trace_in_the_motion() {
    let bench = Bench::with(endless());
    bench.send([Request::StartRecording, Request::SaveSnapshot(None)]);
    bench.steps(2);
    let mut document = document(endless());
    let look = souple::scene::Look { colour: Some([1.0, 0.0, 0.0]), ..Default::default() };
    document.edit("look", |scene| scene.bodies[0].look = Some(look.clone()));
    bench.send([Request::Build { job: document.job(), then: Then::Adopt }]);
    let shown = bench.until(|shown| shown.revision == Some(document.revision()));
    assert_eq!(shown.scene.as_ref().unwrap().bodies[0].look, Some(look));
    assert_eq!(
        (shown.moment.step, shown.recording, shown.recorded, shown.has_snapshot),
        (2, true, false, true)
    );
    // A number of frames more is another end.
    document.edit("frames", |scene| scene.time.frames = 77);
    bench.send([Request::Build { job: document.job(), then: Then::Adopt }]);
    assert_eq!(bench.until(|shown| shown.revision == Some(document.revision())).frames, 77);
}

#[test]
fn only_the_last_of_several_builds_in_a_row_is_done() {
    let build = |frames: u32, then: Then| {
        let scene = Scene { time: Time { frames, fps: 60.0 }, ..Scene::default() };
        Request::Build { job: job(scene), then }
    };
    let load = Then::Load { keep_playing: true };
    let kept = without_outdated_builds(
        [build(1, Then::Adopt), build(2, load), build(3, Then::Adopt), Request::Play, build(4, Then::Adopt)]
            .into_iter(),
    );
    let read = |request: &Request| match request {
        Request::Build { job, then } => Some((job.scene.time.frames, *then)),
        _ => None,
    };
    let kept: Vec<_> = kept.iter().map(read).collect();
    assert_eq!(kept, [Some((3, load)), None, Some((4, Then::Adopt))]);
    // A change of a scene that is being opened does not bring the scene before back.
    let open = Then::Open { play: true };
    let kept = without_outdated_builds([build(1, load), build(2, open), build(3, load)].into_iter());
    assert_eq!(kept.iter().map(read).collect::<Vec<_>>(), [Some((3, open))]);
}

#[test]
fn a_grab_moves_its_vertex_in_the_next_step() {
    // Without weight nothing moves by itself.
    let still = || Scene { gravity: [0.0; 3], ..endless() };
    let bench = Bench::with(still());
    let start = bench.worker.shown();
    let (body, vertex) = ("cloth".to_owned(), 12);
    let target = (start.moment.items[0].positions[12].as_dvec3() + DVec3::new(0.0, 0.3, 0.0)).to_array();
    let grab = Command::Grab { body, vertex, target, stiffness: 50.0 };
    bench.send([Request::Do(vec![grab.clone()])]);
    let waiting = bench.until(|shown| shown.waiting == 1);
    assert_eq!((waiting.moment.step, positions(&waiting)), (0, positions(&start)), "it waits while paused");
    let moved = bench.steps(1);
    assert_eq!((moved.waiting, moved.grabs.len()), (0, 1));
    let rise = moved.moment.items[0].positions[12].y - start.moment.items[0].positions[12].y;
    assert!(rise > 0.0, "{rise}");

    // The same while it plays: seen at most two steps after the step that was on the screen when it was sent.
    let bench = Bench::with(still());
    bench.send([Request::Play]);
    bench.until(|shown| shown.moment.step >= 3);
    bench.send([Request::Do(vec![grab])]);
    let seen = bench.until(|shown| !shown.grabs.is_empty());
    bench.send([Request::Pause]);
    bench.until(|shown| !shown.playing);
    let history = bench.worker.history();
    let height = |step: u64| history.at(step).unwrap().items[0].positions[12].y;
    assert!(height(seen.moment.step) > height(seen.moment.step - 1), "seen in the very step that it acts in");
    assert_eq!(height(seen.moment.step - 1), height(0), "and not before");
}

#[test]
fn commands_that_do_not_fit_are_told_once_and_the_rest_is_done() {
    let bench = Bench::with(endless());
    let free = |vertex| Command::Free { body: "cloth".into(), vertex };
    let anchor = Command::Anchor { body: "cloth".into(), vertex: 9 };
    bench.send([Request::Do(vec![free(99), free(100), anchor])]);
    let shown = bench.steps(1);
    let problems = shown.notes.iter().filter(|note| note.kind == NoteKind::Problem).count();
    assert_eq!((problems, shown.pinned[0].len()), (1, 3));
    assert!(shown.pinned[0].iter().any(|pin| pin.vertex == 9 && pin.set == PinnedVertex::BY_HAND));
    assert!(shown.notes[0].text.contains("no vertex 99"), "{:?}", shown.notes);
    // The same again in the next step is no news; later it is.
    bench.send([Request::Do(vec![free(99)])]);
    assert_eq!(bench.steps(1).notes.len(), 1);
    bench.steps(1);
    bench.send([Request::Do(vec![free(99)])]);
    assert_eq!(bench.steps(1).notes.len(), 2);
}

#[test]
fn a_body_that_diverges_is_a_warning_and_the_worker_goes_on() {
    let mut wild = endless();
    wild.groups = vec![Group { solver: SolverKind::ExplicitEuler, ..Group::default() }];
    wild.time.fps = 60.0;
    wild.bodies[0].fabric = None;
    wild.bodies[0].density = Some(0.1);
    let stiff = Family { stiffness: Some(1e12), ..Family::default() };
    wild.bodies[0].springs = Springs { stretch: stiff, shear: stiff, ..Springs::default() };
    let bench = Bench::with(wild);
    bench.send([Request::SetSpeed(Speed::Fastest), Request::Play]);
    let frozen = bench.until(|shown| shown.bodies[0].frozen);
    assert!(frozen.warning_count > 0 && !frozen.warnings.is_empty());
    assert!(frozen.warnings.iter().any(|warning| warning.to_string().contains("frozen")));
    assert!(frozen.warnings.len() <= MAX_WARNINGS);
    assert!(frozen.moment.items[0].positions.iter().all(|p| p.is_finite()));
    let sample = *bench.worker.history().samples().last().unwrap();
    assert!(sample.warnings > 0);
    // It still plays, resets, and loads something else.
    bench.until(|shown| shown.moment.step > frozen.moment.step);
    bench.send([Request::Pause, Request::Reset]);
    let reset = bench.until(|shown| shown.run == 2);
    assert_eq!((reset.warning_count, reset.warnings.len(), reset.bodies[0].frozen), (0, 0, false));
    bench.load(scene());
    bench.until(|shown| shown.run == 3);
}

#[test]
fn a_panic_becomes_a_note_and_a_fresh_start() {
    let bench = Bench::new();
    bench.send([Request::Panic]);
    let note = bench.until_note("asked to");
    assert_eq!(note.kind, NoteKind::Problem);
    assert!(bench.worker.shown().scene.is_none());
    bench.load(endless());
    bench.until(|shown| shown.run == 1);
    bench.steps(3);
    bench.send([Request::Play, Request::Panic]);
    let recovered = bench.until(|shown| shown.run == 2);
    assert_eq!((recovered.moment.step, recovered.playing), (0, false));
    assert_eq!(recovered.notes.last().unwrap().serial, note.serial + 1);
    assert_eq!(bench.steps(2).moment.step, 2);
}

#[test]
fn nobody_waits_for_a_worker_that_is_busy() {
    let bench = Bench::with(endless());
    bench.steps(3);
    let (hold, until) = channel();
    bench.send([Request::Block(until)]);
    // While the worker is inside a request that does not end, everything can be asked and read. If any of it waited for
    // the worker, this test would never end, as only what follows lets the worker go on.
    let before = bench.worker.shown();
    for _ in 0..1000 {
        bench.send([Request::Do(vec![Command::StopBlowing])]);
        assert_eq!(bench.worker.shown().moment.step, before.moment.step);
        assert_eq!(bench.worker.history().moments().len(), 4);
    }
    bench.send([Request::Step]);
    drop(hold);
    bench.until(|shown| shown.moment.step == before.moment.step + 1);
}

#[test]
fn every_step_is_in_the_history() {
    let bench = Bench::with(endless());
    bench.send([Request::SetSpeed(Speed::Fastest), Request::Play]);
    let shown = bench.until(|shown| shown.moment.step >= 40);
    {
        let history = bench.worker.history();
        let steps: Vec<u64> = history.moments().iter().map(|moment| moment.step).collect();
        assert_eq!(steps, (0..steps.len() as u64).collect::<Vec<_>>());
        assert!(steps.len() as u64 > shown.moment.step && history.samples().len() == steps.len());
        assert!(Arc::ptr_eq(history.at(shown.moment.step).unwrap(), &shown.moment));
    }
    bench.send([Request::Pause, Request::Reset]);
    bench.until(|shown| shown.run == 2);
    assert_eq!(bench.worker.history().range(), Some((0, 0)));
}

#[test]
fn states_are_kept_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.snap");
    let bench = Bench::with(endless());
    bench.send([Request::Restore(None)]);
    bench.until_note("no state was kept");
    let kept = bench.steps(4);
    bench.send([Request::SaveSnapshot(None), Request::SaveSnapshot(Some(file.clone()))]);
    bench.until_note("state.snap");
    assert!(bench.worker.shown().has_snapshot);
    let later = bench.steps(5);
    for path in [None, Some(file.clone())] {
        bench.send([Request::Restore(path)]);
        let back = bench.until(|shown| shown.moment.step == 4 && shown.generation > later.generation);
        assert_eq!(positions(&back), positions(&kept));
        assert_eq!(bench.worker.history().range(), Some((0, 4)));
        assert_eq!(positions(&bench.steps(5)), positions(&later), "the same happens again");
    }
    // Of another scene, damaged, or not there.
    let other = Scene { gravity: [1.0, 0.0, 0.0], ..endless() };
    bench.load(other);
    bench.until(|shown| shown.run == 2);
    assert!(!bench.worker.shown().has_snapshot);
    bench.until_note("the kept state is gone");
    bench.send([Request::StartRecording, Request::Restore(Some(file.clone()))]);
    bench.until_note("another scene");
    assert!(bench.worker.shown().recording, "a state that does not fit does not end a recording");
    bench.send([Request::Restore(Some(folder.path().join("none")))]);
    bench.until_note("no such file");
    bench.steps(1);
}

/// Records some steps with a moved support, and shows the last.
fn record(bench: &Bench, path: &Path) -> Arc<Shown> {
    bench.steps(2);
    bench.send([Request::StartRecording]);
    bench.until(|shown| shown.recording);
    bench.steps(3);
    let (body, pin) = ("cloth".to_owned(), "left".to_owned());
    bench.send([Request::Do(vec![Command::MovePin { body, pin, by: [0.1, 0.2, 0.0] }])]);
    let last = bench.steps(4);
    bench.send([Request::StopRecording(path.to_path_buf())]);
    bench.until_note("recorded 7 steps");
    last
}

#[test]
fn what_was_recorded_is_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.souprec");
    let bench = Bench::with(endless());
    let last = record(&bench, &path);
    assert!(!bench.worker.shown().recording && !bench.worker.shown().recorded);

    let viewer = Bench::new();
    viewer.send([Request::Replay(path.clone())]);
    let end = viewer.until(|shown| shown.at_end && !shown.playing);
    assert!(end.replaying && end.run == 1);
    assert_eq!(end.replayed_file.as_deref(), Some(path.as_path()));
    assert_eq!((end.moment.step, end.frames, positions(&end)), (9, 9, positions(&last)));
    assert_eq!(end.scene.as_ref().unwrap().name, "test");
    assert_eq!(viewer.worker.history().range(), Some((2, 9)));
    assert!(end.notes.is_empty(), "{:?}", end.notes);
    // It cannot be touched or changed, but played again.
    viewer.send([Request::Do(vec![Command::StopBlowing])]);
    viewer.until_note("cannot be touched");
    let job = job(endless());
    viewer.send([Request::Build { job: job.clone(), then: Then::Adopt }]);
    viewer.until(|shown| shown.needs_restart.is_some());
    viewer.send([Request::Step, Request::Reset]);
    assert_eq!(viewer.until(|shown| shown.run == 2).moment.step, 2);
    viewer.send([Request::SetAtEnd(AtEnd::GoOn), Request::Play]);
    viewer.until(|shown| shown.run == 2 && shown.at_end && !shown.playing);
    viewer.send([Request::SetAtEnd(AtEnd::Loop), Request::Play]);
    viewer.until(|shown| shown.run >= 4);
    // Back to a scene that lives.
    viewer.send([Request::Build { job, then: Then::Load { keep_playing: false } }]);
    let live = viewer.until(|shown| !shown.replaying);
    assert_eq!((live.moment.step, live.playing), (0, false));

    for (name, bytes) in [("empty.souprec", &b""[..]), ("wrong.souprec", b"SOUPRECD and more")] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        viewer.send([Request::Replay(folder.path().join(name))]);
        assert_eq!(viewer.until_note(name).kind, NoteKind::Problem);
    }
    assert!(!viewer.worker.shown().replaying);
}

#[test]
fn a_recording_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.souprec");
    let bench = Bench::with(endless());
    bench.send([Request::StopRecording(path.clone())]);
    bench.until_note("there is no recording");
    // It ends with a change of the scene, with a reset, and with another scene, and waits to be saved.
    let mut lighter = endless();
    lighter.gravity[1] = -1.0;
    let adopt = Request::Build { job: job(lighter), then: Then::Adopt };
    let load = Request::Build { job: job(scene()), then: Then::Load { keep_playing: false } };
    for end in [adopt, Request::Reset, load] {
        bench.send([Request::StartRecording]);
        bench.until(|shown| shown.recording && !shown.recorded);
        bench.steps(2);
        bench.send([end]);
        bench.until(|shown| !shown.recording && shown.recorded);
        bench.send([Request::StopRecording(folder.path().join("none/run.souprec"))]);
        bench.until_note("its folder is not there");
        assert!(bench.worker.shown().recorded);
        bench.send([Request::StopRecording(path.clone())]);
        bench.until(|shown| !shown.recorded);
        let replay = souple_files::Replay::open(&path, 1).unwrap();
        assert_eq!(replay.steps(), 2);
    }
    bench.send([Request::StartRecording, Request::DropRecording]);
    bench.until(|shown| !shown.recording && !shown.recorded);
}

#[test]
fn what_is_moved_and_let_go_while_paused_moves() {
    let bench = Bench::with(Scene { gravity: [0.0; 3], ..endless() });
    let before = positions(&bench.worker.shown())[12];
    let (body, vertices) = ("cloth".to_owned(), vec![12]);
    bench.send([
        Request::Do(vec![Command::AnchorMany { body: body.clone(), vertices: vertices.clone() }]),
        Request::Do(vec![Command::MoveAnchored {
            body: body.clone(),
            vertices: vertices.clone(),
            by: [0.0, 0.1, 0.0],
        }]),
        Request::Do(vec![Command::FreeMany { body, vertices }]),
    ]);
    let moved = bench.steps(1);
    assert!((positions(&moved)[12].y - before.y - 0.1).abs() < 1e-5);
    assert_eq!((moved.waiting, moved.pinned[0].len()), (1, 3));
    let freed = bench.steps(1);
    assert_eq!((freed.waiting, freed.pinned[0].len()), (0, 2));
}

#[test]
fn a_scene_that_does_not_compile_does_not_leave_another_one_running() {
    let bench = Bench::with(endless());
    bench.send([Request::Play, Request::StartRecording]);
    bench.until(|shown| shown.recording && shown.moment.step > 2);
    let mut wrong = scene();
    wrong.bodies[0].density = Some(-1.0);
    bench.send([Request::Build { job: job(wrong), then: Then::Open { play: true } }, Request::Play]);
    let shown = bench.until(|shown| shown.build_error.is_some());
    assert_eq!((shown.failed_builds, shown.revision, shown.run), (1, None, 2));
    assert!(!shown.playing && shown.scene.is_none() && shown.moment.items.is_empty());
    assert!(shown.graph.nodes.is_empty() && shown.supports.is_empty() && shown.bodies.is_empty());
    assert!(shown.recorded, "what was recorded can still be saved");
    bench.send([Request::Build { job: job(endless()), then: Then::Open { play: true } }]);
    let shown = bench.until(|shown| shown.moment.step > 2);
    assert!(shown.playing && shown.build_error.is_none() && shown.run == 3);
}

#[test]
fn threads_do_not_change_what_happens() {
    let serial = Bench::with(endless());
    serial.send([Request::SetThreads(1)]);
    let parallel = Bench::with(endless());
    parallel.steps(2);
    parallel.send([Request::SetThreads(2)]);
    let shown = parallel.steps(3);
    assert_eq!((shown.threads, shown.run), (2, 1));
    assert_eq!(positions(&shown), positions(&serial.steps(5)));
}

#[test]
fn dropping_the_worker_finishes_what_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.souprec");
    let bench = Bench::with(endless());
    bench.send([Request::StartRecording, Request::Step, Request::StopRecording(path.clone())]);
    drop(bench);
    assert!(path.exists());
}

#[test]
fn a_new_document_runs() {
    let bench = Bench::new();
    let mut document = Document::new();
    let load = |document: &Document| Request::Build {
        job: document.job(),
        then: Then::Load { keep_playing: false },
    };
    bench.send([load(&document)]);
    let empty = bench.until(|shown| shown.run == 1);
    assert!(empty.moment.items.is_empty());
    bench.steps(2);
    document.add_cloth(ClothKind::Curtain);
    bench.send([load(&document)]);
    let shown = bench.until(|shown| shown.run == 2);
    assert_eq!(shown.supports.iter().map(|s| s.pin.as_str()).collect::<Vec<_>>(), ["left", "right"]);
    assert_eq!(bench.steps(2).bodies[0].vertices, 33 * 33);
}
