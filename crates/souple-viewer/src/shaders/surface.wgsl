// Draws an item in a style: the style's own text defines `shade` and may define `displace`.

struct Item {
    transform: mat4x4<f32>,
    // Linear colours of the front and of the back.
    colour: vec4<f32>,
    back_colour: vec4<f32>,
    // 1 if there is a texture; 1 if only one side is seen; how much closer to the eye it is drawn than it is.
    flags: vec4<f32>,
    parameters: array<vec4<f32>, 2>,
}

@group(1) @binding(0) var<uniform> item: Item;
@group(1) @binding(1) var image: texture_2d<f32>;
@group(1) @binding(2) var image_sampler: sampler;

// A vertex in the world, which `displace` may move.
struct Vertex {
    position: vec3<f32>,
    normal: vec3<f32>,
    uv: vec2<f32>,
    // Seconds since the start of the scene.
    time: f32,
}

// A point of the surface, which `shade` gives a colour.
struct Surface {
    // In the world, m.
    position: vec3<f32>,
    // Unit normal on the side that is seen.
    normal: vec3<f32>,
    // Unit vector to the eye.
    view: vec3<f32>,
    uv: vec2<f32>,
    // Unit vectors along which u and v grow.
    tangent: vec3<f32>,
    bitangent: vec3<f32>,
    // Linear colour of the side that is seen.
    colour: vec3<f32>,
    // What an analysis look shows, from 0 to 1.
    value: f32,
    // Whether the front is seen.
    front: bool,
    // Seconds since the start of the scene.
    time: f32,
}

struct VertexIn {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) value: f32,
    @location(3) uv: vec2<f32>,
}

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) value: f32,
}

fn placed(v: VertexIn) -> Vertex {
    let position = (item.transform * vec4(v.position, 1.0)).xyz;
    let normal = (item.transform * vec4(v.normal, 0.0)).xyz;
    return displace(Vertex(position, normal, v.uv, frame.eye.w));
}

@vertex
fn vertex(v: VertexIn) -> Varying {
    let at = placed(v);
    var clip = frame.view_projection * vec4(at.position, 1.0);
    clip.z *= 1.0 + item.flags.z;
    return Varying(clip, at.position, at.normal, at.uv, v.value);
}

@vertex
fn shadow(v: VertexIn) -> @builtin(position) vec4<f32> {
    return frame.sun_projection * vec4(placed(v).position, 1.0);
}

@fragment
fn fragment(v: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let across = dpdx(v.position);
    let down = dpdy(v.position);
    let uv_across = dpdx(v.uv);
    let uv_down = dpdy(v.uv);
    let view = normalize(frame.eye.xyz - v.position);
    let seen = select(-1.0, 1.0, front);
    let normal = seen * normalize(v.normal);
    // The direction in which u grows, in the plane of the surface.
    let raw = across * uv_down.y - down * uv_across.y;
    let turn = select(1.0, -1.0, uv_across.x * uv_down.y - uv_down.x * uv_across.y < 0.0);
    var tangent = turn * raw;
    tangent -= normal * dot(normal, tangent);
    let length2 = dot(tangent, tangent);
    // Where texture coordinates stand still, any direction will do.
    let other = cross(normal, select(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), abs(normal.x) > 0.9));
    tangent = select(normalize(other), tangent * inverseSqrt(max(length2, 1e-30)), length2 > 1e-24);
    let colour = select(item.back_colour.rgb, item.colour.rgb, front || item.flags.y > 0.5);
    // Square to the tangent, on the side to which v grows.
    let other_way = cross(normal, tangent);
    let grows = turn * dot(other_way, down * uv_across.x - across * uv_down.x);
    let bitangent = select(other_way, -other_way, grows < 0.0);
    let s = Surface(v.position, normal, view, v.uv, tangent, bitangent, colour, v.value, front, frame.eye.w);
    let shown = display(shade(s));
    return vec4(encoded(shown.rgb), shown.a);
}

// The colour of the material, with its texture if it has one.
fn material(s: Surface) -> vec3<f32> {
    let texel = textureSample(image, image_sampler, s.uv).rgb;
    return s.colour * select(vec3(1.0), texel, item.flags.x > 0.5);
}

// Direct light of the sun on a matt surface: in front of it, and a share that shines through thin cloth from behind.
fn sun_on(s: Surface, through: f32) -> vec3<f32> {
    let cosine = dot(s.normal, frame.sun.xyz);
    return frame.sun_light.rgb * (max(cosine, 0.0) + through * max(-cosine, 0.0)) * sunlight(s.position, s.normal);
}
