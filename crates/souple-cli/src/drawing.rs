//! From moments of a simulation to pictures: looks with their files, camera, renderer. Shared by `render` and `run`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use souple::SceneError;
use souple::scene::{Camera as SceneCamera, Look, Scene, Style};
use souple_files::{SceneFolder, disk};
use souple_formats::picture::{Picture, PictureLimits, read_picture};
use souple_viewer::style::{MAX_STYLE_BYTES, StyleSheet};
use souple_viewer::{Artist, Camera, Extent, Looks, Marks, Moment, WhichRenderer};

use crate::failure::Failure;
use crate::report::note;

/// Memory that one kept moment takes for a vertex, bytes: position, speed, contacts.
pub const BYTES_PER_VERTEX_AND_MOMENT: u128 = 24;
/// Memory that a picture takes for a pixel while it is drawn, bytes: four samples of colour and depth, and copies.
pub const BYTES_PER_PIXEL: u128 = 48;
/// Width and height of the picture that styles are tried out on, pixels.
const TRIAL_SIZE: (u32, u32) = (64, 64);
/// Moments that the range of a colour map is fitted to; more would not change it.
const FITTED_MOMENTS: usize = 60;

/// Draws moments of one scene.
pub struct Drawing {
    artist: Artist,
    looks: Looks,
    /// Drawn besides the items, in every picture.
    pub marks: Marks,
    size: (u32, u32),
    camera: Option<Camera>,
    /// Time of all pictures, s: upload, draw, read back.
    seconds: [f64; 3],
    pictures: u64,
}

/// How to draw.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// A style for all bodies.
    pub style: Option<&'a str>,
    /// Whether the elements of all solids are drawn, too.
    pub cells: bool,
    /// Whether creases of paper and crests of folds are drawn.
    pub creases: bool,
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// Instead of that of the scene.
    pub camera: Option<SceneCamera>,
    /// What draws.
    pub renderer: WhichRenderer,
}

/// What the pictures took, and how they were drawn.
#[derive(Debug, Serialize)]
pub struct DrawingReport {
    /// Name of the renderer.
    pub renderer: String,
    /// Number of pictures.
    pub pictures: u64,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// The camera as a scene file writes it.
    pub camera: Option<SceneCamera>,
    /// Time per picture to send vertices, ms.
    pub upload_ms: f64,
    /// Time per picture to draw, ms.
    pub draw_ms: f64,
    /// Time per picture to bring the pixels back, ms.
    pub read_back_ms: f64,
}

impl Drawing {
    /// Gets ready, and refuses what cannot be drawn: done before a long run. What does not stop it is noted.
    ///
    /// Files that the scene names are read from `folder`; what is wrong with them goes to `explain`, which makes an
    /// error of it or lets it pass.
    pub fn prepare(
        scene: &Scene,
        folder: &SceneFolder,
        options: &Options<'_>,
        explain: &mut dyn FnMut(SceneError) -> Result<(), Failure>,
    ) -> Result<Drawing, Failure> {
        let mut artist = Artist::new(options.renderer).map_err(|error| {
            Failure::input(error.to_string(), "draw with --renderer cpu, which needs no driver")
        })?;
        let mut looks = read_looks(scene, folder, &mut artist.styles, explain)?;
        if let Some(style) = options.style {
            looks.set_style(&chosen_style(style, &mut artist.styles)?);
        }
        if options.cells {
            looks.show_cells();
        }
        if options.creases {
            looks.show_creases();
        }
        if let Some(reason) = artist.why_not_gpu() {
            note(&format!("note: drawn by the CPU rasteriser: {reason}"));
        }
        for style in artist.missing_styles(&looks) {
            note(&format!("warning: style '{style}' needs a graphics driver; it is drawn as standard"));
        }
        let camera = options.camera.or(scene.view.camera).map(|camera| Camera::of_scene(&camera));
        let marks = Marks::default();
        Ok(Drawing { artist, looks, marks, size: options.size, camera, seconds: [0.0; 3], pictures: 0 })
    }

    /// Draws a small picture for nobody: a driver refuses a style only when it is used, which is to be known before a
    /// long run and before anything is written.
    pub fn try_out(&mut self, moment: &Moment) -> Result<(), Failure> {
        let camera = self.camera.unwrap_or_default();
        self.picture(moment, &camera, TRIAL_SIZE).map(drop)
    }

    fn picture(&mut self, moment: &Moment, camera: &Camera, size: (u32, u32)) -> Result<Picture, Failure> {
        let drawn = self.artist.draw(moment, &self.looks, &self.marks, camera, size);
        let picture = drawn.map_err(|error| {
            Failure::input(error.to_string(), "draw with --renderer cpu, or a smaller picture")
        })?;
        check_refused(&self.artist.refused_styles())?;
        Ok(picture)
    }

    /// Fits what is not given, the camera, the ground and the ranges of colour maps, to all that will be drawn.
    pub fn fit(&mut self, moments: &[Moment]) {
        if self.camera.is_none() {
            let aspect = self.size.0 as f32 / self.size.1 as f32;
            let points = moments.iter().flat_map(|moment| moment.points(false));
            self.camera = Some(Camera::fitted(points, aspect));
        }
        self.looks.extent = Extent::of(moments);
        let step = moments.len().div_ceil(FITTED_MOMENTS).max(1);
        let some: Vec<Moment> = moments.iter().step_by(step).cloned().collect();
        self.looks.fit_ranges(&self.artist.styles, &some);
    }

    /// Draws a moment.
    pub fn draw(&mut self, moment: &Moment) -> Result<Picture, Failure> {
        let camera = self.camera.unwrap_or_default();
        let picture = self.picture(moment, &camera, self.size)?;
        let timings = self.artist.timings();
        for (sum, part) in self.seconds.iter_mut().zip([timings.upload, timings.draw, timings.read_back]) {
            *sum += part.as_secs_f64();
        }
        self.pictures += 1;
        Ok(picture)
    }

    /// What was drawn.
    pub fn report(&self) -> DrawingReport {
        let [upload_ms, draw_ms, read_back_ms] = self.seconds.map(|s| s * 1e3 / self.pictures.max(1) as f64);
        DrawingReport {
            renderer: self.artist.name().to_owned(),
            pictures: self.pictures,
            size: [self.size.0, self.size.1],
            camera: self.camera.map(|camera| camera.to_scene()),
            upload_ms,
            draw_ms,
            read_back_ms,
        }
    }
}

impl DrawingReport {
    /// Time per picture, ms.
    pub fn ms(&self) -> f64 {
        self.upload_ms + self.draw_ms + self.read_back_ms
    }
}

/// A style that the driver refused would be missing in the picture.
fn check_refused(refused: &[(String, String)]) -> Result<(), Failure> {
    match refused {
        [] => Ok(()),
        [(style, message), ..] => Err(Failure::input(
            format!("the graphics driver refuses style '{style}': {message}"),
            "correct the style, choose another with --style, or draw with --renderer cpu",
        )),
    }
}

/// Looks with a place in the scene file.
fn places(scene: &Scene) -> impl Iterator<Item = (String, &Look)> {
    let bodies =
        scene.bodies.iter().enumerate().map(|(b, body)| (format!("body[{b}].look"), body.look.as_ref()));
    let papers = scene.papers.iter().enumerate();
    let papers = papers.map(|(p, paper)| (format!("paper[{p}].look"), paper.look.as_ref()));
    let colliders = scene.colliders.iter().enumerate();
    let colliders = colliders.map(|(c, collider)| (format!("collider[{c}].look"), collider.look.as_ref()));
    bodies.chain(papers).chain(colliders).filter_map(|(field, look)| Some((field, look?)))
}

/// The looks of a scene, with the images and shaders that it names. What is wrong goes to `explain`, which makes an error
/// of it or lets it pass. No device is needed.
pub fn read_looks(
    scene: &Scene,
    folder: &SceneFolder,
    styles: &mut StyleSheet,
    explain: &mut dyn FnMut(SceneError) -> Result<(), Failure>,
) -> Result<Looks, Failure> {
    let mut textures: BTreeMap<&str, Arc<Picture>> = BTreeMap::new();
    for (field, look) in places(scene) {
        if let Style::Shader(path) = &look.style
            && let Err(problem) = read_shader(folder, path, styles)
        {
            explain(SceneError::new(
                format!("{field}.style.shader"),
                problem,
                "correct the shader, or name another",
            ))?;
        }
        if let Some(path) = &look.texture
            && !textures.contains_key(path.as_str())
        {
            match read_texture(folder, path) {
                Ok(picture) => drop(textures.insert(path, picture)),
                Err(problem) => {
                    let help = "name a PNG or JPEG file in the folder of the scene";
                    explain(SceneError::new(format!("{field}.texture"), problem, help))?;
                }
            }
        }
    }
    let looks = Looks::of_scene(scene, |path| textures.get(path).cloned());
    let groups = [("body", &looks.bodies), ("paper", &looks.papers), ("collider", &looks.colliders)];
    for (place, index, look) in
        groups.iter().flat_map(|(p, looks)| (0..).zip(*looks).map(move |(i, l)| (p, i, l)))
    {
        if let Err(error) = styles.check_look(look) {
            let field = format!("{place}[{index}].look.parameters");
            explain(SceneError::new(
                field,
                error.to_string(),
                "`souple styles` lists the parameters of each style",
            ))?;
        }
    }
    Ok(looks)
}

fn read_texture(folder: &SceneFolder, path: &str) -> Result<Arc<Picture>, String> {
    let limits = PictureLimits::default();
    let bytes = folder.read(path, limits.max_bytes, "texture");
    let bytes = bytes.map_err(|problem| format!("cannot read '{path}': {problem}"))?;
    read_picture(&bytes, &limits).map(Arc::new).map_err(|error| format!("cannot use '{path}': {error}"))
}

fn read_shader(folder: &SceneFolder, path: &str, styles: &mut StyleSheet) -> Result<(), String> {
    let bytes = folder.read(path, MAX_STYLE_BYTES, "shader");
    let bytes = bytes.map_err(|problem| format!("cannot read '{path}': {problem}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("'{path}' is not UTF-8 text"))?;
    styles.set(path, &text).map_err(|error| error.to_string())
}

/// The style that was asked for by name or file.
fn chosen_style(style: &str, styles: &mut StyleSheet) -> Result<String, Failure> {
    if style.to_lowercase().ends_with(".wgsl") {
        let path = Path::new(style);
        let bytes = disk::read(path, MAX_STYLE_BYTES, "style")?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::file(path, "this is not UTF-8 text", "save the style as UTF-8"))?;
        styles
            .set(style, &text)
            .map_err(|error| Failure::input(error.to_string(), "correct this line of the style"))?;
    }
    match styles.get(style) {
        Ok(_) => Ok(style.to_owned()),
        Err(error) => Err(Failure::Usage(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_that_the_driver_refuses_is_an_error_with_its_message() {
        check_refused(&[]).unwrap();
        let refused = check_refused(&[("own.wgsl".into(), "too many registers".into())]).unwrap_err();
        assert!(refused.message().contains("'own.wgsl': too many registers"), "{refused}");
        assert!(matches!(refused, Failure::Input { .. }), "exit code 1");
    }
}
