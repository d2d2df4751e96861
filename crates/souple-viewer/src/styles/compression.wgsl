//! How much cloth has lost of its length against its pattern: what folds make up for.
//! @parameter relief = 0.35 from 0 to 1: how much of the shape is seen as light and shade
//! @quantity compression
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    let light = 1.0 - relief() * (1.0 - clamp(dot(s.normal, s.view), 0.0, 1.0));
    return vec4(sequential(s.value) * light, 1.0);
}
