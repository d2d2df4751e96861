// What every shader of the viewer shares: the frame, light, shadows, tone mapping, colour maps.
// Its formulas are those of environment.rs and overlay.rs; a test compares both renderers.

struct Frame {
    view_projection: mat4x4<f32>,
    // World to the map of the sun's shadows: x and y from -1 to 1, z from 0 near the sun to 1.
    sun_projection: mat4x4<f32>,
    // Where the camera stands, m; seconds.
    eye: vec4<f32>,
    // Unit vector to the sun; size of a pixel of the shadow map in the world, m.
    sun: vec4<f32>,
    // Light of the sun; 1 over the sides of the shadow map.
    sun_light: vec4<f32>,
    // Colours behind everything, as they are stored.
    background_top: vec4<f32>,
    background_bottom: vec4<f32>,
    // Width and height of the picture, pixels.
    size: vec4<f32>,
    // Middle of the ground, m; how far it reaches, m.
    ground: vec4<f32>,
    // Side of a square of the ground's grid, m.
    grid: vec4<f32>,
    harmonics: array<vec4<f32>, 9>,
    sequential: array<vec4<f32>, 9>,
    diverging: array<vec4<f32>, 9>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;
@group(0) @binding(3) var surroundings: texture_cube<f32>;
@group(0) @binding(4) var smooth_sampler: sampler;

const PI = 3.14159265;

// Light on a matt white surface from all sides but the sun.
fn ambient(n: vec3<f32>) -> vec3<f32> {
    let h = &frame.harmonics;
    let light = (*h)[0].rgb * 0.282095
        + (*h)[1].rgb * (0.488603 * n.y) + (*h)[2].rgb * (0.488603 * n.z) + (*h)[3].rgb * (0.488603 * n.x)
        + (*h)[4].rgb * (1.092548 * n.x * n.y) + (*h)[5].rgb * (1.092548 * n.y * n.z)
        + (*h)[6].rgb * (0.315392 * (3.0 * n.z * n.z - 1.0))
        + (*h)[7].rgb * (1.092548 * n.x * n.z) + (*h)[8].rgb * (0.546274 * (n.x * n.x - n.y * n.y));
    return max(light, vec3(0.0));
}

// What is mirrored from a direction by a surface of that roughness, 0 to 1.
fn reflected(direction: vec3<f32>, roughness: f32) -> vec3<f32> {
    return textureSampleLevel(surroundings, smooth_sampler, direction, roughness * 5.0).rgb;
}

// Sixteen points spread evenly over a disc by golden angles; the four outermost come first.
const DISC = array<vec2<f32>, 16>(
    vec2(-0.76475, -0.44318), vec2(0.89713, -0.19724), vec2(-0.54750, 0.77877), vec2(-0.12649, -0.97609),
    vec2(0.17678, 0.00000), vec2(-0.22577, 0.20683), vec2(0.03456, -0.39377), vec2(0.28457, 0.37117),
    vec2(-0.52222, -0.09237), vec2(0.49470, -0.31469), vec2(-0.16547, 0.61553), vec2(-0.31556, -0.60759),
    vec2(0.68464, 0.25003), vec2(-0.71226, 0.29401), vec2(0.34335, -0.73373), vec2(0.25373, 0.80893),
);
// Radius of the disc of the shadow map that is averaged, pixels.
const SOFTNESS = 4.5;

// Share of the sun that reaches a point, 0 to 1: the mean over a disc of the shadow map.
fn sunlight(position: vec3<f32>, normal: vec3<f32>) -> f32 {
    // Off the surface, on the side of the sun, by a little more than the disc covers on a slope.
    let side = select(-1.0, 1.0, dot(normal, frame.sun.xyz) >= 0.0);
    let slope = 1.0 - abs(dot(normal, frame.sun.xyz));
    let lifted = position + normal * (side * frame.sun.w * (1.5 + 4.0 * slope));
    let clip = frame.sun_projection * vec4(lifted, 1.0);
    let uv = vec2(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
    var lit = 4.0;
    if all(uv > vec2(0.0)) && all(uv < vec2(1.0)) && clip.z < 1.0 {
        let radius = SOFTNESS * frame.sun_light.w;
        lit = 0.0;
        for (var k = 0; k < 4; k++) {
            lit += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + radius * DISC[k], clip.z);
        }
        // All in the light or all in the shadow at the rim of the disc: so is the rest. Most points are.
        if lit > 0.0 && lit < 4.0 {
            for (var k = 4; k < 16; k++) {
                lit += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + radius * DISC[k], clip.z);
            }
            lit *= 0.25;
        }
    }
    return 0.25 * lit;
}

// What is behind a pixel, as it is stored: mixed there, so that the steps between shades are even.
fn background(pixel: vec2<f32>) -> vec3<f32> {
    return mix(frame.background_top.rgb, frame.background_bottom.rgb, clamp(pixel.y / frame.size.y, 0.0, 1.0));
}

// Linear light as colours that a screen can show; see environment.rs.
fn tone_map(light: vec3<f32>) -> vec3<f32> {
    let start = 0.76;
    let least = min(light.r, min(light.g, light.b));
    let offset = select(0.04, least - 6.25 * least * least, least < 0.08);
    let colour = light - offset;
    let peak = max(colour.r, max(colour.g, colour.b));
    if peak < start {
        return colour;
    }
    let rest = 1.0 - start;
    let shown = 1.0 - rest * rest / (peak + rest - start);
    let white = 1.0 - 1.0 / (0.15 * (peak - shown) + 1.0);
    return mix(colour * (shown / peak), vec3(shown), white);
}

// Linear colours from 0 to 1 as the sRGB values that are stored: the target has no such conversion of its own, which
// drivers in software do once per sample instead of once per pixel.
fn encoded(linear: vec3<f32>) -> vec3<f32> {
    let c = clamp(linear, vec3(0.0), vec3(1.0));
    // 1.055 c^(1/2.4) - 0.055 to a tenth of a step of 255, by roots, which are several times faster in software.
    let root = sqrt(c);
    let power = -0.07690855 + 0.83372528 * root + 0.29813126 * sqrt(root) - 0.05530698 * c;
    return select(power, 12.92 * c, c <= vec3(0.0031308));
}

// Colours of a colour map at t from 0 to 1.
fn sequential(t: f32) -> vec3<f32> {
    let at = clamp(t, 0.0, 1.0) * 8.0;
    let k = min(i32(at), 7);
    return mix(frame.sequential[k].rgb, frame.sequential[k + 1].rgb, at - f32(k));
}

fn diverging(t: f32) -> vec3<f32> {
    let at = clamp(t, 0.0, 1.0) * 8.0;
    let k = min(i32(at), 7);
    return mix(frame.diverging[k].rgb, frame.diverging[k + 1].rgb, at - f32(k));
}

// Share of light that a surface mirrors, more at a flat angle (Schlick).
fn fresnel(straight: f32, cosine: f32) -> f32 {
    return straight + (1.0 - straight) * pow(clamp(1.0 - cosine, 0.0, 1.0), 5.0);
}
