// Lines and points of a width in pixels.

struct LineIn {
    @location(0) ends_from: vec3<f32>,
    @location(1) ends_to: vec3<f32>,
    @location(2) colour: vec4<f32>,
    @location(3) width: f32,
}

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) colour: vec4<f32>,
    // Across and along in pixels from the middle line; half its width; its length.
    @location(1) at: vec4<f32>,
}

// A little closer to the eye, so that lines on a surface are not lost in it.
fn closer(clip: vec4<f32>) -> vec4<f32> {
    return vec4(clip.xy, clip.z * 1.002, clip.w);
}

@vertex
fn line_vertex(@builtin(vertex_index) k: u32, line: LineIn) -> Varying {
    var a = frame.view_projection * vec4(line.ends_from, 1.0);
    var b = frame.view_projection * vec4(line.ends_to, 1.0);
    // Ends behind the eye are moved to just before it.
    let least = 1e-4;
    if a.w < least && b.w < least {
        return Varying(vec4(0.0, 0.0, 2.0, 1.0), vec4(0.0), vec4(0.0));
    }
    if a.w < least { a = mix(a, b, (least - a.w) / (b.w - a.w)); }
    if b.w < least { b = mix(b, a, (least - b.w) / (a.w - b.w)); }
    let half_size = 0.5 * frame.size.xy;
    let p = a.xy / a.w * half_size;
    let q = b.xy / b.w * half_size;
    let span = q - p;
    let length = length(span);
    let along = select(vec2(1.0, 0.0), span / length, length > 1e-6);
    let across = vec2(-along.y, along.x);
    let half_width = 0.5 * line.width;
    let pad = half_width + 1.0;
    let side = f32(k & 1u) * 2.0 - 1.0;
    let is_end = (k >> 1u) == 1u;
    let end = select(a, b, is_end);
    let out = select(-pad, pad, is_end);
    let place = select(p, q, is_end) + across * side * pad + along * out;
    // Already divided: what follows is interpolated on the screen, as the width is meant there.
    let clip = vec4(place / half_size, end.z / end.w, 1.0);
    return Varying(closer(clip), line.colour, vec4(side * pad, select(-pad, length + pad, is_end), half_width, length));
}

@fragment
fn line_fragment(v: Varying) -> @location(0) vec4<f32> {
    let beyond = max(max(-v.at.y, v.at.y - v.at.w), 0.0);
    let away = length(vec2(v.at.x, beyond));
    let cover = clamp(v.at.z + 0.5 - away, 0.0, 1.0);
    if cover <= 0.0 { discard; }
    return vec4(encoded(v.colour.rgb), v.colour.a * cover);
}

struct PointIn {
    @location(0) centre: vec3<f32>,
    @location(1) colour: vec4<f32>,
    @location(2) size: f32,
}

@vertex
fn point_vertex(@builtin(vertex_index) k: u32, point: PointIn) -> Varying {
    let clip = frame.view_projection * vec4(point.centre, 1.0);
    let corner = vec2(f32(k & 1u) * 2.0 - 1.0, f32(k >> 1u) * 2.0 - 1.0);
    let pad = 0.5 * point.size + 1.0;
    let moved = vec4(clip.xy + corner * pad / (0.5 * frame.size.xy) * clip.w, clip.z, clip.w);
    return Varying(closer(moved), point.colour, vec4(corner * pad, 0.5 * point.size, 0.0));
}

@fragment
fn point_fragment(v: Varying) -> @location(0) vec4<f32> {
    let away = length(v.at.xy);
    let cover = clamp(v.at.z + 0.5 - away, 0.0, 1.0);
    if cover <= 0.0 { discard; }
    // A thin darker ring, so that points are seen on any colour.
    let ring = smoothstep(v.at.z - 2.0, v.at.z - 1.0, away);
    return vec4(encoded(v.colour.rgb * (1.0 - 0.6 * ring)), v.colour.a * cover);
}
