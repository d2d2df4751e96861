//! Squares, to judge texture coordinates and stretch.
//! @parameter squares = 16 from 1 to 200: squares along u and v

fn shade(s: Surface) -> vec4<f32> {
    // The mean of the squares under the pixel, exactly: no flicker far away.
    let at = s.uv * squares() * 0.5;
    let width = max(fwidth(at), vec2(1e-5));
    let begin = at - 0.5 * width;
    let end = at + 0.5 * width;
    let area_end = floor(end) * 0.5 + min(fract(end), vec2(0.5));
    let area_begin = floor(begin) * 0.5 + min(fract(begin), vec2(0.5));
    let share = clamp((area_end - area_begin) / width, vec2(0.0), vec2(1.0));
    let even = share.x * share.y + (1.0 - share.x) * (1.0 - share.y);
    let base = mix(s.colour, mix(s.colour, vec3(0.95), 0.85), even);
    let cosine = dot(s.normal, frame.sun.xyz);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let light = sun * (max(cosine, 0.0) + 0.25 * max(-cosine, 0.0)) + ambient(s.normal);
    return vec4(base * light, 1.0);
}
