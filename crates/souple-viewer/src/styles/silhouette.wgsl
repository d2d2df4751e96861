//! Bright edges, dark in the middle: a curtain on a stage (ESSI-66).
//! @parameter width = 2 from 0.5 to 8: how narrow the bright edge is
//! @parameter glow = 1.4 from 0 to 4: how bright it is

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let edge = pow(1.0 - clamp(dot(s.normal, s.view), 0.0, 1.0), width());
    let lit = 0.5 + 0.5 * sunlight(s.position, s.normal);
    return vec4(base * (0.10 * ambient(s.normal) + glow() * edge * lit) + vec3(0.25 * glow() * edge * edge * edge), 1.0);
}
