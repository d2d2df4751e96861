//! Velvet: dark in front, bright at the rim, after Minnaert (ESSI-60).
//! @parameter minnaert = 1.7 from 1 to 4: exponent q of (N·L N·E)^(q - 1): how dark the front is
//! @parameter rim = 1.3 from 0 to 3: light of the fibres at the rim
//! @parameter rim_width = 2.6 from 1 to 8: how narrow the rim is

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let to_sun = max(dot(s.normal, frame.sun.xyz), 0.0);
    let to_eye = clamp(dot(s.normal, s.view), 0.0, 1.0);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let nap = pow(max(to_sun * to_eye, 1e-4), minnaert() - 1.0);
    let fibres = rim() * pow(1.0 - to_eye, rim_width());
    // Fibres stand out of the cloth and catch light that comes from beyond the rim, too.
    let around = ambient(s.normal) + 0.6 * sun * (0.35 + 0.65 * to_sun);
    let light = sun * to_sun * nap + ambient(s.normal) * (0.25 + 0.5 * to_eye);
    return vec4(base * light + (0.8 * base + vec3(0.12)) * fibres * around, 1.0);
}
