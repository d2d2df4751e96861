//! Relief from an image of heights, or a weave without one (ESSI-64).
//! @parameter height = 1 from 0 to 4: how deep the relief is
//! @parameter repeat = 1 from 1 to 64: how often the image fits along u and v
//! @parameter threads = 60 from 4 to 400: threads of the weave along u

fn weave(uv: vec2<f32>) -> f32 {
    let at = uv * threads();
    let cell = floor(at);
    let within = fract(at) - vec2(0.5);
    let over = (i32(cell.x) + i32(cell.y)) % 2 == 0;
    // A thread is round across and arches along where it lies on top.
    let across = select(within.x, within.y, over);
    let along = select(within.y, within.x, over);
    return sqrt(max(0.26 - across * across, 0.0)) * (0.7 + 0.3 * cos(PI * along));
}

fn height_at(uv: vec2<f32>) -> f32 {
    // Heights are the numbers in the file, not the light they stand for in a picture.
    let texel = encoded(textureSampleLevel(image, image_sampler, uv * repeat(), 0.0).rgb);
    let pictured = dot(texel, vec3(0.3, 0.6, 0.1));
    return select(weave(uv), pictured, item.flags.x > 0.5);
}

fn shade(s: Surface) -> vec4<f32> {
    let drawn = item.flags.x > 0.5;
    // Where a thread is smaller than two pixels its relief would only flicker.
    let pixels = max(length(dpdx(s.uv)), length(dpdy(s.uv)));
    let cell = select(1.0 / threads(), 1.0 / (8.0 * repeat()), drawn);
    let seen = 1.0 - smoothstep(0.25, 0.6, pixels / cell);
    let step = 0.06 * cell;
    let here = height_at(s.uv);
    let slope = vec2(height_at(s.uv + vec2(step, 0.0)) - here, height_at(s.uv + vec2(0.0, step)) - here)
        * (0.25 * height() * seen * cell / step);
    let n = normalize(s.normal - s.tangent * slope.x - s.bitangent * slope.y);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let cosine = dot(n, frame.sun.xyz);
    let halfway = max(dot(n, normalize(s.view + frame.sun.xyz)), 0.0);
    let hollow = mix(1.0, 0.55 + 0.9 * here, select(seen, 0.3 * seen, drawn));
    let light = sun * (max(cosine, 0.0) + 0.2 * max(-cosine, 0.0)) + ambient(n) * hollow;
    return vec4(s.colour * light + sun * 0.18 * pow(halfway, 24.0) * max(cosine, 0.0), 1.0);
}
