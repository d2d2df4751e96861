//! Plastic with a sharp highlight, after Phong (ESSI-59).
//! @parameter exponent = 60 from 1 to 400: how small the highlight is
//! @parameter highlight = 0.6 from 0 to 2: how bright the highlight is
//! @parameter mirror = 0.12 from 0 to 1: share of the surroundings that is mirrored

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let cosine = max(dot(s.normal, frame.sun.xyz), 0.0);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let bounce = reflect(-s.view, s.normal);
    let shine = highlight() * pow(max(dot(bounce, frame.sun.xyz), 0.0), exponent()) * step(1e-4, cosine);
    let share = mirror() * fresnel(0.25, max(dot(s.normal, s.view), 0.0));
    return vec4(base * (sun * cosine + ambient(s.normal)) + sun * shine + share * reflected(bounce, 0.25), 1.0);
}
