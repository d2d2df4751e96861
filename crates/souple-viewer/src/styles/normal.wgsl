//! The direction of the surface as a colour: x red, y green, z blue (ESSI-69).
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    // Squared: halves of the sRGB scale, so that colours are those of a normal map.
    let n = 0.5 * s.normal + vec3(0.5);
    return vec4(pow(n, vec3(2.2)), 1.0);
}
