//! A few flat tones and dark outlines (ESSI-65).
//! @parameter tones = 3 from 2 to 8: how many tones there are
//! @parameter highlight = 0.5 from 0 to 1: a spot of light, or none
//! @outline
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let cosine = max(dot(s.normal, frame.sun.xyz), 0.0) * sunlight(s.position, s.normal);
    let steps = max(floor(tones() + 0.5), 2.0);
    // Each step is one pixel soft, so that it does not flicker.
    let at = clamp(cosine * 1.1, 0.0, 0.999) * steps;
    let soft = clamp(fwidth(at), 1e-3, 0.5);
    let tone = (floor(at) + smoothstep(1.0 - soft, 1.0, fract(at))) / (steps - 1.0);
    let shine = pow(max(dot(s.normal, normalize(s.view + frame.sun.xyz)), 0.0), 60.0);
    let edge = clamp(fwidth(shine), 1e-3, 0.2);
    let spot = highlight() * smoothstep(0.5 - edge, 0.5 + edge, shine) * step(0.3, cosine);
    return vec4(mix(base * mix(vec3(0.36, 0.34, 0.46), vec3(1.04), clamp(tone, 0.0, 1.0)), vec3(1.0), spot), 1.0);
}
