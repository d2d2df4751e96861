//! The picture in the middle: drawn by the viewer on the window's own graphics device, shown as an image, touched by hands.
//!
//! The viewer draws into a texture of its own whose bytes are sRGB. egui blends in that same space and wants a texture that
//! says so by being plain 8-bit, so the picture is copied into one: that works with every driver, also with those that
//! cannot look at one texture in two ways. On a driver in software, what moves is drawn with fewer samples; once it stands
//! still it is drawn in full. Nothing is drawn when nothing changed, nor when there is no room.

use eframe::egui::emath::GuiRounding;
use eframe::egui::{
    self, Align2, Color32, FontId, Rect, Sense, Stroke, StrokeKind, TextureId, Ui, pos2, vec2,
};
use eframe::egui_wgpu;
use glam::Vec2;
use souple::scene::Scene;
use souple_viewer::gpu::{Renderer, SAMPLES};
use souple_viewer::looks::srgb;
use souple_viewer::style::Quantity;
use souple_viewer::{Camera, Marks, Moment, overlay};

use crate::app::StudioApp;
use crate::input;
use crate::keys::{Action, Held, chord_of};
use crate::panels::icons::{Icon, icon_button, labelled_button};
use crate::panels::theme::{palette, short};
use crate::panels::{fields, menu, messages, paint};
use crate::playback::Showing;
use crate::tools::{Pointer, Tool};
use crate::worker::AtEnd;
use souple_viewer::camera::Preset;

/// Sides of the picture below which nothing is drawn, pixels.
const LEAST: f32 = 2.0;

/// The picture and what it was drawn of.
#[derive(Default)]
pub struct Viewport {
    /// Where it is in the window, points.
    pub rect: Option<Rect>,
    /// Pixels per point.
    pub scale: f32,
    /// Pictures that were drawn.
    pub drawn: u64,
    driver: Option<Driver>,
    last: Option<Drawn>,
    /// A drag that began in the picture goes on outside of it.
    captured: bool,
}

/// The graphics device of the window, and what is drawn with it.
struct Driver {
    state: egui_wgpu::RenderState,
    /// Draws with smooth edges.
    fine: Renderer,
    /// Draws what moves on a driver in software, which has no time for smooth edges.
    fast: Option<Renderer>,
    canvas: Option<Canvas>,
}

/// The texture that egui shows.
struct Canvas {
    texture: wgpu::Texture,
    id: TextureId,
}

/// What the last picture was drawn of.
#[derive(PartialEq)]
struct Drawn {
    /// Address and step of the moment: one that is kept cannot change.
    moment: (usize, u64),
    camera: Camera,
    size: (u32, u32),
    looks: u64,
    marks: Marks,
    fine: bool,
}

impl Viewport {
    /// Draws on the graphics device of the window from now on.
    pub fn use_driver(&mut self, state: &egui_wgpu::RenderState) {
        let renderer = |samples| Renderer::new(&state.device, &state.queue, samples);
        let software = state.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        let (fine, fast) = (renderer(SAMPLES), software.then(|| renderer(1)));
        self.driver = Some(Driver { state: state.clone(), fine, fast, canvas: None });
    }

    /// Whether pictures are drawn in software, by the processor that also simulates.
    pub fn is_software(&self) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.fast.is_some())
    }

    /// Size of the picture, pixels; never zero.
    pub fn size_pixels(&self) -> Vec2 {
        let size = self.rect.map_or(vec2(640.0, 480.0), |rect| rect.size()) * self.scale.max(0.1);
        Vec2::new(size.x.max(1.0), size.y.max(1.0))
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        let size = self.size_pixels();
        size.x / size.y
    }

    /// Pixel of the picture as a point of the window.
    pub fn point(&self, pixel: Vec2) -> egui::Pos2 {
        let corner = self.rect.map_or(egui::Pos2::ZERO, |rect| rect.min);
        corner + vec2(pixel.x, pixel.y) / self.scale.max(0.1)
    }
}

impl Driver {
    /// The renderer for what moves or stands still.
    fn renderer(&mut self, fine: bool) -> &mut Renderer {
        match &mut self.fast {
            Some(fast) if !fine => fast,
            _ => &mut self.fine,
        }
    }

    /// Copies the picture into the texture that egui shows; makes another one when the size has changed.
    fn show(&mut self, fine: bool) -> TextureId {
        let source = match &self.fast {
            Some(fast) if !fine => fast.texture(),
            _ => self.fine.texture(),
        };
        let size = source.size();
        let device = &self.state.device;
        if self.canvas.as_ref().is_none_or(|canvas| canvas.texture.size() != size) {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture"),
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            });
            let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
            let mut shown = self.state.renderer.write();
            let filter = wgpu::FilterMode::Linear;
            let id = match self.canvas.take() {
                Some(old) => {
                    shown.update_egui_texture_from_wgpu_texture(device, &view, filter, old.id);
                    old.id
                }
                None => shown.register_native_texture(device, &view, filter),
            };
            drop(shown);
            self.canvas = Some(Canvas { texture, id });
        }
        let Some(canvas) = &self.canvas else { return TextureId::default() };
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_texture_to_texture(source.as_image_copy(), canvas.texture.as_image_copy(), size);
        self.state.queue.submit([encoder.finish()]);
        canvas.id
    }
}

/// The camera that a scene opens with: its own, or one that sees all of it.
pub fn opening_camera(scene: &Scene, moment: &Moment, aspect: f32) -> Camera {
    match &scene.view.camera {
        Some(camera) => Camera::of_scene(camera),
        None => Camera::fitted(moment.points(false), aspect),
    }
}

/// Draws the middle of the window: tools, picture, messages.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    egui::CentralPanel::no_frame().show(ui, |ui| {
        if ui.available_height() > 70.0 {
            let margin = egui::Margin::symmetric(6, 3);
            egui::Frame::new().inner_margin(margin).fill(ui.visuals().panel_fill).show(ui, |ui| {
                tools_row(app, ui);
                if app.hands.tool() == Tool::Paint {
                    paint::bar(app, ui);
                }
            });
        }
        // Whole pixels: the picture is shown as it was drawn.
        let rect = ui.available_rect_before_wrap().round_to_pixels(ui.pixels_per_point());
        let response = ui.allocate_rect(rect, Sense::click_and_drag());
        app.viewport.rect = Some(rect);
        app.viewport.scale = ui.pixels_per_point();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Picture"));
        touch(app, ui, &response);
        picture(app, ui, rect);
        overlays(app, ui, rect);
        if let Some(remedy) = messages::show(&mut app.messages, ui.ctx(), rect) {
            app.apply_remedy(remedy);
        }
    });
}

fn tools_row(app: &mut StudioApp, ui: &mut Ui) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for tool in Tool::ALL {
            let icon = match tool {
                Tool::View => Icon::View,
                Tool::Select => Icon::Select,
                Tool::Move => Icon::Move,
                Tool::Scissors => Icon::Scissors,
                Tool::Fan => Icon::Fan,
                Tool::Paint => Icon::Brush,
            };
            let key = chord_of(Action::Tool(tool)).map_or_else(String::new, |chord| format!(" ({chord})"));
            let tip = format!("{}{key}\n{}", tool.name(), tool.help());
            if labelled_button(ui, icon, app.hands.tool() == tool, tool.name(), &tip).clicked() {
                app.perform(Action::Tool(tool), Held::default());
            }
        }
        ui.separator();
        style_choice(app, ui);
        let wire = app.style_override.as_deref() == Some("wireframe");
        if icon_button(ui, Icon::Wireframe, wire, "Wireframe", "Edges of the meshes, on or off (W)").clicked()
        {
            app.perform(Action::Wireframe, Held::default());
        }
        ui.separator();
        for (name, preset) in [("Front", Preset::Front), ("Side", Preset::Side), ("Top", Preset::Top)] {
            let key = chord_of(Action::View(preset)).map_or_else(String::new, |chord| format!(" ({chord})"));
            if ui.button(name).on_hover_text(format!("Look from there{key}")).clicked() {
                app.perform(Action::View(preset), Held::default());
            }
        }
        if icon_button(ui, Icon::Fit, false, "See everything", "See everything (Home)").clicked() {
            app.perform(Action::ShowAll, Held::default());
        }
    });
}

fn style_choice(app: &mut StudioApp, ui: &mut Ui) {
    let shown = app.style_override.as_deref().map_or("as in scene".to_owned(), fields::words);
    let combo = egui::ComboBox::from_id_salt("style of all").selected_text(shown).width(92.0).height(460.0);
    let response = combo.show_ui(ui, |ui| menu::styles(app, ui)).response;
    response
        .on_hover_text("Style of all bodies; the number keys change it, too")
        .accessible_name("Style of all bodies");
}

/// Gives what the pointer does in the picture to the hands.
fn touch(app: &mut StudioApp, ui: &Ui, response: &egui::Response) {
    let (events, modifiers) = ui.input(|input| (input.events.clone(), input.modifiers));
    let Some(corner) = app.viewport.rect.map(|rect| rect.min) else { return };
    let scale = app.viewport.scale;
    let over = response.contains_pointer();
    for event in &events {
        if let Some(notches) = input::notches(event).filter(|n| over && *n != 0.0) {
            let at = response.hover_pos().unwrap_or(response.rect.center());
            let at = Vec2::new(at.x - corner.x, at.y - corner.y) * scale;
            pass(app, Pointer::Wheel { at, notches });
            continue;
        }
        let Some(pointer) = input::pointer(event, corner, scale, modifiers) else { continue };
        match pointer {
            Pointer::Down { .. } if over || app.viewport.captured => {
                app.viewport.captured = true;
                // A number that was being typed is done when the picture is touched.
                ui.memory_mut(|memory| {
                    if let Some(id) = memory.focused() {
                        memory.surrender_focus(id);
                    }
                });
                pass(app, pointer);
            }
            Pointer::Move { .. } if over || app.viewport.captured => pass(app, pointer),
            Pointer::Up { .. } if app.viewport.captured => {
                app.viewport.captured = ui.input(|input| input.pointer.any_down());
                pass(app, pointer);
            }
            Pointer::Cancel if app.viewport.captured => {
                app.viewport.captured = false;
                pass(app, pointer);
            }
            _ => {}
        }
    }
    if over && !ui.input(|input| input.pointer.any_down()) {
        let icon = match app.hands.tool() {
            Tool::View => egui::CursorIcon::Grab,
            Tool::Select | Tool::Scissors => egui::CursorIcon::Crosshair,
            Tool::Move => egui::CursorIcon::Move,
            Tool::Fan => egui::CursorIcon::Default,
            Tool::Paint => egui::CursorIcon::Crosshair,
        };
        ui.set_cursor_icon(icon);
    }
}

fn pass(app: &mut StudioApp, pointer: Pointer) {
    let reaction = app.with_seen(|hands, seen| hands.handle(pointer, seen));
    app.react(reaction);
}

/// Draws the picture when something changed, and shows it.
fn picture(app: &mut StudioApp, ui: &Ui, rect: Rect) {
    let size = app.viewport.size_pixels().round();
    if rect.width() < LEAST || rect.height() < LEAST {
        return;
    }
    let moment = app.painted_moment();
    let marks = app.with_seen(|hands, seen| hands.marks(seen));
    let Some(mut driver) = app.viewport.driver.take() else {
        ui.painter().rect_filled(rect, 0.0, Color32::from_rgb(150, 162, 176));
        return;
    };
    let drawn = Drawn {
        moment: (app.moment_address(), moment.step),
        camera: app.camera,
        size: (size.x as u32, size.y as u32),
        looks: app.looks_version(),
        marks,
        fine: driver.fast.is_none() || !is_moving(app),
    };
    let id = match &driver.canvas {
        Some(canvas) if app.viewport.last.as_ref() == Some(&drawn) => canvas.id,
        _ => {
            let (size, camera, fine) = (drawn.size, &drawn.camera, drawn.fine);
            driver.renderer(fine).draw(&moment, &app.looks, &drawn.marks, &app.styles, camera, size);
            app.viewport.drawn += 1;
            app.viewport.last = Some(drawn);
            if !fine {
                // Once it stands still it is drawn again, with smooth edges.
                ui.ctx().request_repaint_after_secs(0.15);
            }
            driver.show(fine)
        }
    };
    app.viewport.driver = Some(driver);
    let whole = Rect::from_min_max(egui::Pos2::ZERO, pos2(1.0, 1.0));
    ui.painter().image(id, rect, whole, Color32::WHITE);
}

/// Whether the next picture will be another one.
fn is_moving(app: &StudioApp) -> bool {
    let turned = app.viewport.last.as_ref().is_some_and(|last| last.camera != app.camera);
    let replay = matches!(app.showing, Showing::Replay { running: true, .. });
    turned || replay || app.hands.is_dragging() || (app.shown.playing && app.showing == Showing::Live)
}

/// Text and flat shapes over the picture.
fn overlays(app: &StudioApp, ui: &Ui, rect: Rect) {
    if rect.width() < 80.0 || rect.height() < 60.0 {
        return;
    }
    let painter = ui.painter_at(rect);
    let colours = palette(ui.visuals().dark_mode);
    if let Some((low, high)) = app.hands.rectangle() {
        let box_rect = Rect::from_two_pos(app.viewport.point(low), app.viewport.point(high));
        painter.rect(
            box_rect,
            0.0,
            colours.accent.gamma_multiply(0.12),
            Stroke::new(1.0, colours.accent),
            StrokeKind::Inside,
        );
    }
    if app.hands.tool() == Tool::Paint
        && let Some(at) = ui.ctx().pointer_hover_pos().filter(|at| rect.contains(*at))
    {
        let radius = app.hands.brush.radius / app.viewport.scale.max(0.1);
        painter.circle_stroke(at, radius, Stroke::new(1.5, Color32::from_white_alpha(200)));
        painter.circle_stroke(at, radius + 1.5, Stroke::new(1.0, Color32::from_black_alpha(120)));
    }
    if let Some((quantity, range)) = app.looks.legend(&app.styles, |_| true) {
        legend(&painter, rect, quantity, range);
    }
    let hint = hint(app);
    let at = rect.left_top() + vec2(8.0, 6.0);
    boxed_text(&painter, at, Align2::LEFT_TOP, &hint, rect.width() - 16.0);
    if let Some(state) = state(app) {
        boxed_text(
            &painter,
            rect.right_top() + vec2(-8.0, 6.0),
            Align2::RIGHT_TOP,
            &state,
            0.4 * rect.width(),
        );
    }
    if app.moment().items.is_empty() {
        let text = "Choose a scene on the left, drop a file here, or add a cloth from the menu Add.";
        boxed_text(&painter, rect.center(), Align2::CENTER_CENTER, text, rect.width() - 40.0);
    }
    axes(&painter, rect, app.camera);
    for (k, (name, share)) in app.exports.progress().enumerate() {
        let text = format!("Writing {name}: {:.0} %", 100.0 * share);
        let at = rect.right_bottom() + vec2(-8.0, -8.0 - 24.0 * k as f32);
        boxed_text(&painter, at, Align2::RIGHT_BOTTOM, &text, 0.5 * rect.width());
    }
}

/// What the tool does, in a line.
fn hint(app: &StudioApp) -> String {
    let count: usize = app.hands.selection.values().map(|vertices| vertices.len()).sum();
    let selected = match count {
        0 => String::new(),
        1 => "   1 vertex selected".into(),
        n => format!("   {n} vertices selected"),
    };
    let text = match app.hands.tool() {
        Tool::View => "Drag: orbit   Middle: pan   Wheel: zoom   Ctrl-drag: pull   Shift: select",
        Tool::Select => "Click or drag a box: select   Shift: add or remove   P: pin   U: unpin",
        Tool::Move => "Drag an arrow or the centre to move the selection",
        Tool::Scissors => "Drag across a cloth to cut it",
        Tool::Fan => "Hold the button: air blows where you point",
        Tool::Paint => "Drag over a character: paint   Shift: soften   Ctrl: erase   Alt-drag: orbit",
    };
    format!("{text}{selected}")
}

/// What is unusual about what is shown.
fn state(app: &StudioApp) -> Option<String> {
    match app.showing {
        Showing::Past { step } => Some(format!("Past: frame {step}   Esc: now")),
        Showing::Replay { .. } => Some("Replay   Esc: now".into()),
        Showing::Live if app.shown.replaying => Some("Recording is played".into()),
        Showing::Live if app.shown.recording => Some("Recording …".into()),
        Showing::Live if app.shown.at_end && !app.shown.playing && app.shown.at_end_rule == AtEnd::Stop => {
            Some("At the last frame: Play begins again".into())
        }
        Showing::Live if app.shown.waiting > 0 && !app.shown.playing => {
            Some("Paused: hands act when it plays".into())
        }
        Showing::Live => None,
    }
}

/// Text on a dark strip, readable over anything.
fn boxed_text(painter: &egui::Painter, at: egui::Pos2, align: Align2, text: &str, width: f32) {
    let font = FontId::proportional(12.0);
    let galley = painter.layout(text.to_owned(), font, Color32::from_gray(235), width.max(20.0));
    let rect = align.anchor_size(at, galley.size() + vec2(10.0, 5.0));
    painter.rect_filled(rect, 3.0, Color32::from_black_alpha(120));
    painter.galley(rect.min + vec2(5.0, 2.5), galley, Color32::WHITE);
}

/// Colours and the values they stand for, at the right.
fn legend(painter: &egui::Painter, rect: Rect, quantity: Quantity, range: [f32; 2]) {
    let height = (0.5 * rect.height()).clamp(40.0, 200.0);
    let bar =
        Rect::from_min_size(pos2(rect.right() - 26.0, rect.center().y - 0.5 * height), vec2(14.0, height));
    let (unit, factor) = quantity.unit();
    painter.rect_filled(
        Rect::from_min_max(bar.min - vec2(62.0, 24.0), bar.max + vec2(8.0, 10.0)),
        4.0,
        Color32::from_black_alpha(120),
    );
    let rows = bar.height().ceil() as usize;
    for row in 0..rows {
        let share = 1.0 - (row as f32 + 0.5) / rows as f32;
        let [r, g, b] = srgb(overlay::colour_map(quantity, share)).map(|part| (part * 255.0).round() as u8);
        let y = bar.top() + row as f32;
        painter.hline(bar.x_range(), y + 0.5, Stroke::new(1.2, Color32::from_rgb(r, g, b)));
    }
    let font = FontId::proportional(11.0);
    let white = Color32::from_gray(235);
    for k in 0..=4 {
        let share = k as f32 / 4.0;
        let value = (range[0] + (range[1] - range[0]) * share) * factor;
        let at = pos2(bar.left() - 4.0, egui::lerp(bar.bottom()..=bar.top(), share));
        painter.text(at, Align2::RIGHT_CENTER, short(f64::from(value)), font.clone(), white);
    }
    let title = format!("{}, {unit}", quantity.name());
    painter.text(pos2(bar.right(), bar.top() - 8.0), Align2::RIGHT_BOTTOM, title, font, white);
}

/// Directions of the world in the lower right corner.
fn axes(painter: &egui::Painter, rect: Rect, camera: Camera) {
    if rect.height() < 200.0 {
        return;
    }
    let centre = rect.right_bottom() - vec2(34.0, 34.0);
    let (right, up) = camera.axes();
    let toward = right.cross(up);
    let mut lines = [
        (glam::Vec3::X, "x", Color32::from_rgb(225, 85, 75)),
        (glam::Vec3::Y, "y", Color32::from_rgb(110, 190, 80)),
        (glam::Vec3::Z, "z", Color32::from_rgb(80, 135, 235)),
    ];
    // What points away is drawn first.
    lines.sort_by(|a, b| a.0.dot(toward).total_cmp(&b.0.dot(toward)));
    painter.circle_filled(centre, 27.0, Color32::from_black_alpha(60));
    for (axis, name, colour) in lines {
        let end = centre + 19.0 * vec2(axis.dot(right), -axis.dot(up));
        painter.line_segment([centre, end], Stroke::new(2.0, colour));
        painter.circle_filled(end, 6.0, colour);
        painter.text(end, Align2::CENTER_CENTER, name, FontId::proportional(10.0), Color32::BLACK);
    }
}
