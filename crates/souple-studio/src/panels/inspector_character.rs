//! The form of a character: what it plays, how bones move its skin, how the skin keeps its volume. All of it acts while it
//! plays.

use std::sync::Arc;

use eframe::egui::{self, Ui};
use souple::scene::{
    BonePose, BulgePreset, Character, JointBulge, Motion, PlayedClip, Rig, RigSource, SkinVolume, Skinning,
    VolumeMethod,
};
use souple_files::character_scene::clip_names;

use super::curve::curve_field;
use super::fields::{Effect, Form, live};
use super::icons::{Icon, icon_button};
use super::inspector::{rename, section};
use super::inspector_world::{FAR, motion_fields, subtitle};
use super::theme::short;
use crate::app::StudioApp;
use crate::characters::bone_names;
use crate::document::Object;

/// How bones move a skin, with the names in scene files.
const SKINNINGS: [(Skinning, &str); 3] = [
    (Skinning::LinearBlend, "linear_blend"),
    (Skinning::DualQuaternion, "dual_quaternion"),
    (Skinning::Rigid, "rigid"),
];

/// What bulges look like, with the names in scene files.
const PRESETS: [(BulgePreset, &str); 6] = [
    (BulgePreset::Automatic, "automatic"),
    (BulgePreset::Isotropic, "isotropic"),
    (BulgePreset::Rubber, "rubber"),
    (BulgePreset::Muscle, "muscle"),
    (BulgePreset::Folds, "folds"),
    (BulgePreset::Stretch, "stretch"),
];

/// How a volume is brought back, with the names in scene files.
const METHODS: [(VolumeMethod, &str); 3] = [
    (VolumeMethod::Exact, "exact"),
    (VolumeMethod::OnePass, "one_pass"),
    (VolumeMethod::ThreePasses, "three_passes"),
];

/// What the form knows of the file of a character.
#[derive(Clone, Debug, Default)]
struct Names {
    /// Clips: as they are played, and as they are shown.
    clips: Vec<(String, String)>,
    bones: Vec<String>,
    /// What is painted on it.
    maps: Vec<String>,
}

/// What a character is, in a line.
pub fn character_line(character: &Character) -> String {
    let source = match &character.rig {
        RigSource::File(file) => file.path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        RigSource::Inline(_) => "written in the scene".into(),
    };
    match character.clips.len() {
        0 => format!("{source}, stands"),
        1 => format!("{source}, plays {}", character.clips[0].name),
        n => format!("{source}, blends {n} clips"),
    }
}

/// Draws the form of a character.
pub fn show(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let Some(mut character) = app.document.scene().characters.get(c).map(for_form) else { return };
    let mut names = names(app, c, &character.name);
    names.bones.extend(character.inserted.iter().map(|bone| bone.name.clone()));
    let maps = app.document.scene().characters.get(c).map(|character| character.maps.as_slice());
    names.maps = maps.unwrap_or_default().iter().map(|map| map.name.clone()).collect();
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("'{}'", character.name));
    let name = form.name(ui, live("Name", "Character", "name", ""), &character.name);
    if let RigSource::File(file) = &character.rig {
        form.row(ui, live("File", "RigSource", "file", ""), |ui| {
            ui.add(egui::Label::new(file.path.as_str()).truncate()).on_hover_text(file.path.as_str())
        });
    }
    fields(&mut form, ui, &mut character, &names);
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.characters.get_mut(c) {
            from_form(character, place);
        }
    });
    rename(app, Object::Character(c), name);
    section(ui, "Posed by hand", true, |ui| posed_now(app, ui, c));
    section(ui, "Volume now", true, |ui| volume_now(app, ui, c));
    section(ui, "Painted maps", true, |ui| super::paint::maps(app, ui, c));
}

/// Bones that hands have moved, to be kept in the scene.
fn posed_now(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let info = app.shown.characters.get(c).filter(|_| app.runs_document());
    let bones: Vec<&str> =
        info.map(|info| info.posed.iter().map(|pose| pose.bone.as_str()).collect()).unwrap_or_default();
    if bones.is_empty() {
        subtitle(
            ui,
            "Ctrl-drag on its skin turns the bone under the pointer; with the tool Move it is shifted.",
        );
        return;
    }
    ui.label(bones.join(", "));
    let tip = "Writes how these bones stand into the scene, so that they stand so from its start; else it ends with Reset";
    if ui.button("Keep pose").on_hover_text(tip).clicked() {
        app.keep_pose(c);
    }
}

/// What the volume of the running skin is, and what each joint does to it.
fn volume_now(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let mut shown = app.style_override.as_deref() == Some("gain");
    let tip = "Red has come out, blue has gone in, seen from the bone that carries it";
    if ui.checkbox(&mut shown, "Gain and loss as colours").on_hover_text(tip).clicked() {
        app.set_style(shown.then_some("gain"));
    }
    let info = app.shown.characters.get(c).filter(|_| app.runs_document());
    let Some(volume) = info.and_then(|info| info.volume.as_ref()) else {
        subtitle(ui, "Numbers are there while its volume is kept; a gain of 0 keeps none and measures it.");
        return;
    };
    let percent = |part: f64| if volume.rest == 0.0 { 0.0 } else { 100.0 * part / volume.rest };
    egui::Grid::new("volume now").num_columns(2).striped(true).show(ui, |ui| {
        for (label, text) in [
            ("at rest", format!("{} l", short(1e3 * volume.rest))),
            ("by skinning", format!("{:+.2} %", percent(volume.skinned - volume.rest))),
            ("as it is", format!("{:+.2} %", percent(volume.kept - volume.rest))),
        ] {
            ui.label(label);
            ui.monospace(text);
            ui.end_row();
        }
    });
    // Less would be shown as zero.
    let joints: Vec<_> = volume.joints.iter().filter(|joint| percent(joint.changed).abs() >= 0.005).collect();
    if joints.is_empty() {
        subtitle(ui, "No joint is bent so that it would change the volume now.");
        return;
    }
    egui::Grid::new("joints now").num_columns(3).striped(true).show(ui, |ui| {
        ui.weak("joint");
        ui.weak("changes").on_hover_text("What bending it changes the volume by, of the whole");
        ui.weak("gives back").on_hover_text("What its bulge gives back, of the whole");
        ui.end_row();
        for joint in joints {
            ui.label(joint.bone.as_str());
            ui.monospace(format!("{:+.2} %", percent(joint.changed)));
            ui.monospace(format!("{:+.2} %", percent(joint.given)));
            ui.end_row();
        }
    });
}

/// Clips and bones of the file, as the running scene has it.
fn names(app: &StudioApp, c: usize, name: &str) -> Names {
    let running = app.shown.scene.as_ref().filter(|_| app.runs_document());
    let running = running.and_then(|scene| {
        let named = scene.characters.iter().find(|character| character.name == name);
        named.or_else(|| scene.characters.get(c))
    });
    match running.map(|character| &character.rig) {
        Some(RigSource::Inline(rig)) => names_of(rig),
        _ => Names::default(),
    }
}

fn names_of(rig: &Rig) -> Names {
    Names { clips: clip_names(rig), bones: bone_names(rig), maps: Vec::new() }
}

/// A copy of a character for its form, without what it does not show: a rig that stands in the scene itself, and what is painted.
fn for_form(character: &Character) -> Character {
    let rig = match &character.rig {
        RigSource::File(file) => RigSource::File(file.clone()),
        RigSource::Inline(_) => RigSource::default(),
    };
    Character { rig, maps: Vec::new(), ..character.clone() }
}

/// Writes what a form changed back into its character.
fn from_form(edited: Character, character: &mut Character) {
    let (rig, maps) = (std::mem::take(&mut character.rig), std::mem::take(&mut character.maps));
    *character = Character { rig, maps, ..edited };
}

fn fields(form: &mut Form, ui: &mut Ui, character: &mut Character, names: &Names) {
    section(ui, "Clips", true, |ui| clip_fields(form, ui, &mut character.clips, names));
    if !character.poses.is_empty() {
        section(ui, "Poses", true, |ui| pose_fields(form, ui, &mut character.poses));
    }
    section(ui, "Skin", true, |ui| {
        let skinning = live("Skinning", "Character", "skinning", "");
        form.choice(ui, skinning, "Skinning", &SKINNINGS, &mut character.skinning);
        let volume = live("Keeps volume", "Character", "volume", "");
        form.part(ui, volume, &mut character.volume, SkinVolume::default, |form, ui, volume| {
            volume_fields(form, ui, volume);
        });
    });
    if let Some(volume) = &mut character.volume {
        section(ui, "Bulges of joints", true, |ui| joint_fields(form, ui, volume, names));
    }
    section(ui, "Placement", false, |ui| {
        form.vector(
            ui,
            live("Position, m", "Character", "position", "m"),
            -FAR..=FAR,
            &mut character.position,
        );
        let turn = live("Turn, °", "Character", "rotate_deg", "degrees about the axis");
        form.vector(ui, turn, -720.0..=720.0, &mut character.rotate_deg);
        form.number(ui, live("Scale", "Character", "scale", ""), 1e-6..=1e6, &mut character.scale);
    });
    section(ui, "Motion", false, |ui| {
        let moves = live("Moves", "Character", "motion", "");
        form.part(ui, moves, &mut character.motion, Motion::default, motion_fields);
    });
}

fn pose_fields(form: &mut Form, ui: &mut Ui, poses: &mut Vec<BonePose>) {
    let mut removed = None;
    for (k, pose) in poses.iter_mut().enumerate() {
        ui.push_id(("pose", k), |ui| {
            ui.horizontal(|ui| {
                ui.strong(pose.bone.as_str());
                let name = format!("Remove pose of {}", pose.bone);
                if icon_button(ui, Icon::Close, false, &name, "Let the bone stand as clips have it").clicked()
                {
                    removed = Some(k);
                }
            });
            let turn = live("Turn, °", "BonePose", "rotate_deg", "degrees about the axis");
            form.vector(ui, turn, -720.0..=720.0, &mut pose.rotate_deg);
            form.vector(ui, live("Shift", "BonePose", "shift", ""), -FAR..=FAR, &mut pose.shift);
        });
    }
    if let Some(k) = removed {
        poses.remove(k);
        form.changed("poses", Effect::Live);
    }
}

fn clip_fields(form: &mut Form, ui: &mut Ui, clips: &mut Vec<PlayedClip>, names: &Names) {
    if clips.is_empty() {
        subtitle(ui, "None is played: it stands as its file has it.");
    }
    let choices: Vec<(String, &str)> =
        names.clips.iter().map(|(name, shown)| (name.clone(), shown.as_str())).collect();
    let (mut removed, several) = (None, clips.len() > 1);
    for (k, clip) in clips.iter_mut().enumerate() {
        ui.push_id(k, |ui| {
            ui.horizontal(|ui| {
                ui.strong(format!("Clip {}", k + 1));
                let name = format!("Remove clip {}", k + 1);
                if icon_button(ui, Icon::Close, false, &name, "Do not play it").clicked() {
                    removed = Some(k);
                }
            });
            form.choice(ui, live("Plays", "PlayedClip", "name", ""), "", &choices, &mut clip.name);
            if several {
                let weight = live("Weight", "PlayedClip", "weight", "");
                form.slider(ui, weight, 0.0..=1.0, 100.0, &mut clip.weight);
            }
            form.number(ui, live("Speed", "PlayedClip", "speed", "×"), -20.0..=20.0, &mut clip.speed);
            form.number(ui, live("Start", "PlayedClip", "start", "s"), -1e4..=1e4, &mut clip.start);
            form.flag(ui, live("Repeat", "PlayedClip", "repeat", ""), &mut clip.repeat);
        });
    }
    if let Some(k) = removed {
        clips.remove(k);
        form.changed("clips", Effect::Live);
    }
    if names.clips.is_empty() {
        subtitle(ui, "The file has no clips.");
        return;
    }
    ui.menu_button("Add clip", |ui| {
        for (name, shown) in &names.clips {
            if ui.button(shown).clicked() {
                clips.push(PlayedClip { name: name.clone(), ..PlayedClip::default() });
                form.changed("clips", Effect::Live);
            }
        }
    });
}

fn volume_fields(form: &mut Form, ui: &mut Ui, volume: &mut SkinVolume) {
    form.choice(ui, live("Preset", "SkinVolume", "preset", ""), "BulgePreset", &PRESETS, &mut volume.preset);
    form.choice(ui, live("Method", "SkinVolume", "method", ""), "VolumeMethod", &METHODS, &mut volume.method);
    form.slider(ui, live("Gain", "SkinVolume", "gain", ""), 0.0..=3.0, 100.0, &mut volume.gain);
    form.slider(ui, live("Target", "SkinVolume", "target", ""), 0.8..=1.2, 10.0, &mut volume.target);
    form.count(ui, live("Area rounds", "SkinVolume", "area_rounds", ""), 0..=16, &mut volume.area_rounds);
    form.flag(ui, live("Avoid crossing", "SkinVolume", "avoid_crossing", ""), &mut volume.avoid_crossing);
    form.flag(ui, live("Close what is open", "SkinVolume", "close_open", ""), &mut volume.close_open);
}

fn joint_fields(form: &mut Form, ui: &mut Ui, volume: &mut SkinVolume, names: &Names) {
    let bones = &names.bones;
    let (preset, gain) = (volume.preset, volume.gain);
    let mut removed = None;
    for (k, joint) in volume.joints.iter_mut().enumerate() {
        let title = match joint.bones.is_empty() {
            true => "All other joints".to_owned(),
            false => joint.bones.join(", "),
        };
        let header = egui::CollapsingHeader::new(title).id_salt(("joint", k)).default_open(true);
        header.show(ui, |ui| {
            if ui.button("Remove this bulge").clicked() {
                removed = Some(k);
            }
            bulge_fields(form, ui, joint, names, preset, gain);
        });
    }
    if let Some(k) = removed {
        volume.joints.remove(k);
        form.changed("bulges", Effect::Live);
    }
    let left: Vec<&String> =
        bones.iter().filter(|bone| volume.joints.iter().all(|joint| !joint.bones.contains(bone))).collect();
    let has_others = volume.joints.iter().any(|joint| joint.bones.is_empty());
    let mut added: Option<Vec<String>> = None;
    ui.menu_button("Add bulge", |ui| {
        if !has_others && ui.button("of all other joints").clicked() {
            added = Some(Vec::new());
        }
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for bone in left {
                if ui.button(bone).on_hover_text("The joint at which this bone turns").clicked() {
                    added = Some(vec![bone.clone()]);
                    ui.close();
                }
            }
        });
    })
    .response
    .on_hover_text("A joint whose bulge is another than that of all");
    if let Some(bones) = added {
        let preset = Some(preset).filter(|preset| *preset != BulgePreset::Automatic);
        volume.joints.push(JointBulge { bones, preset, ..JointBulge::default() });
        form.changed("bulges", Effect::Live);
    }
}

fn bulge_fields(
    form: &mut Form,
    ui: &mut Ui,
    joint: &mut JointBulge,
    names: &Names,
    general: BulgePreset,
    gain: f64,
) {
    bones_field(form, ui, &mut joint.bones, &names.bones);
    let mut presets: Vec<(Option<BulgePreset>, &str)> = vec![(None, "as all")];
    presets.extend(PRESETS.iter().map(|(preset, name)| (Some(*preset), *name)));
    let field = live("Preset", "JointBulge", "preset", "");
    form.choice(ui, field, "BulgePreset", &presets, &mut joint.preset);
    form.optional(ui, live("Gain", "JointBulge", "gain", ""), 0.0..=100.0, &mut joint.gain, gain, "as all");
    let preset = joint.preset.unwrap_or(general);
    if preset == BulgePreset::Automatic {
        let weight = live("Weight exponent", "JointBulge", "weight_exponent", "");
        form.slider(ui, weight, 0.0..=4.0, 20.0, &mut joint.weight_exponent);
        let distance = live("Distance exponent", "JointBulge", "distance_exponent", "");
        form.slider(ui, distance, 0.0..=4.0, 20.0, &mut joint.distance_exponent);
    } else {
        let width = live("Width", "JointBulge", "width", "");
        form.optional(ui, width, 0.01..=100.0, &mut joint.width, 0.25, "that of the preset");
        let offset = live("Offset", "JointBulge", "offset", "");
        form.optional(ui, offset, -10.0..=10.0, &mut joint.offset, 0.0, "that of the preset");
    }
    if preset == BulgePreset::Folds {
        form.slider(ui, live("Folds", "JointBulge", "folds", ""), 1.0..=10.0, 100.0, &mut joint.folds);
    }
    let axes = live("Axes", "JointBulge", "axes", "");
    form.part(
        ui,
        axes,
        &mut joint.axes,
        || [1.0; 3],
        |form, ui, axes| {
            form.vector(ui, live("x, y, z", "JointBulge", "axes", ""), 0.0..=10.0, axes);
        },
    );
    let mut maps: Vec<(Option<String>, &str)> = vec![(None, "none")];
    maps.extend(names.maps.iter().map(|map| (Some(map.clone()), map.as_str())));
    form.choice(ui, live("Painted", "JointBulge", "map", ""), "", &maps, &mut joint.map);
    curve_field(form, ui, "Profile along the bone", &mut joint.profile_x, "even, or in folds");
    curve_field(form, ui, "Profile along the axis", &mut joint.profile_y, "even");
    curve_field(form, ui, "Profile to the side", &mut joint.profile_z, "that of the preset");
}

/// The bones that a bulge is of: a click on one takes it off the list.
fn bones_field(form: &mut Form, ui: &mut Ui, chosen: &mut Vec<String>, bones: &[String]) {
    let mut changed = false;
    form.row(ui, live("Bones", "JointBulge", "bones", ""), |ui| {
        ui.menu_button(if chosen.is_empty() { "all others".to_owned() } else { chosen.join(", ") }, |ui| {
            egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
                for bone in bones {
                    let mut is_in = chosen.contains(bone);
                    if ui.checkbox(&mut is_in, bone).clicked() {
                        match is_in {
                            true => chosen.push(bone.clone()),
                            false => chosen.retain(|other| other != bone),
                        }
                        changed = true;
                    }
                }
            });
        });
    });
    if changed {
        form.changed("bones", Effect::Live);
    }
}
