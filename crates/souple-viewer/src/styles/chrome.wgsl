//! Polished metal that mirrors the surroundings (ESSI-62).
//! @parameter roughness = 0.05 from 0 to 1: how blurred the mirror is
//! @parameter tint = 0.25 from 0 to 1: how much of the colour the metal has

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let metal = mix(vec3(0.92), base, tint());
    let to_eye = max(dot(s.normal, s.view), 0.0);
    let bounce = reflect(-s.view, s.normal);
    let share = metal + (vec3(1.0) - metal) * pow(1.0 - to_eye, 5.0);
    // The sun's soft box is part of the surroundings; where the sun does not reach, little of it does.
    let lit = mix(0.55, 1.0, sunlight(s.position, s.normal));
    return vec4(share * reflected(bounce, roughness()) * lit, 1.0);
}
