// The ground: a disc that fades out, with a grid and the shadows of what stands on it.

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) position: vec3<f32>,
    // Light from all sides but the sun: the same everywhere.
    @location(1) around: vec3<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) k: u32) -> Varying {
    let corner = vec2(f32(k & 1u) * 2.0 - 1.0, f32(k >> 1u) * 2.0 - 1.0);
    let position = frame.ground.xyz + vec3(corner.x, 0.0, corner.y) * frame.ground.w;
    return Varying(frame.view_projection * vec4(position, 1.0), position, ambient(vec3(0.0, 1.0, 0.0)));
}

// Share of a pixel that is covered by lines of that width at whole numbers of `at`.
fn lines(at: vec2<f32>, width: f32) -> f32 {
    let pixel = max(fwidth(at), vec2(1e-6));
    let drawn = max(vec2(width), pixel);
    let distance = abs(fract(at - 0.5) - 0.5);
    let cover = 1.0 - smoothstep(0.5 * drawn - 0.5 * pixel, 0.5 * drawn + 0.5 * pixel, distance);
    // Thinner than a pixel: fainter instead. Closer than two pixels: gone.
    let faint = cover * min(width / drawn, vec2(1.0)) * (1.0 - smoothstep(vec2(0.3), vec2(0.8), pixel));
    return max(faint.x, faint.y);
}

@fragment
fn fragment(v: Varying) -> @location(0) vec4<f32> {
    let offset = v.position.xz / frame.grid.x;
    let fine = lines(offset, 0.02);
    let coarse = lines(offset * 0.1, 0.004);
    let base = vec3(0.52, 0.53, 0.55) * (1.0 - 0.16 * fine) * (1.0 - 0.25 * coarse);
    let up = vec3(0.0, 1.0, 0.0);
    let sun = frame.sun_light.rgb * max(frame.sun.y, 0.0) * sunlight(v.position, up);
    let away = length(v.position.xz - frame.ground.xz) / frame.ground.w;
    let alpha = 1.0 - smoothstep(0.35, 1.0, away);
    return vec4(mix(background(v.clip.xy), encoded(tone_map(base * (sun + v.around))), alpha), 1.0);
}
