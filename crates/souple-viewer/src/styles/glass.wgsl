//! Transparent but for its edges and what it mirrors (ESSI-67).
//! @parameter opacity = 0.12 from 0 to 1: how dense it is in the middle
//! @parameter edge = 2.5 from 0.5 to 8: how narrow its dense edge is
//! @parameter mirror = 0.7 from 0 to 2: how much it mirrors
//! @transparent

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let to_eye = clamp(dot(s.normal, s.view), 0.0, 1.0);
    let dense = pow(1.0 - to_eye, edge());
    let share = mirror() * fresnel(0.05, to_eye);
    let mirrored = share * reflected(reflect(-s.view, s.normal), 0.05);
    let sun = 0.35 + 0.65 * sunlight(s.position, s.normal);
    let alpha = clamp(opacity() + 0.75 * dense + 0.6 * share, 0.0, 1.0);
    return vec4(base * ambient(s.normal) * sun * (0.8 + dense) + mirrored / max(alpha, 0.15), alpha);
}
