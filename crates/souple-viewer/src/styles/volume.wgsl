//! How far a skin was moved to keep its volume: red bulges, blue goes in. Zero for what keeps none.
//! @parameter relief = 0.35 from 0 to 1: how much of the shape is seen as light and shade
//! @quantity volume
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    let light = 1.0 - relief() * (1.0 - clamp(dot(s.normal, s.view), 0.0, 1.0));
    return vec4(diverging(s.value) * light, 1.0);
}
