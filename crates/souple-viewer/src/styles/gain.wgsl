//! Where the skin of a character has gained and lost volume: red has come out, blue has gone in.
//! @parameter relief = 0.35 from 0 to 1: how much of the shape is seen as light and shade
//! @quantity gain
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    let light = 1.0 - relief() * (1.0 - clamp(dot(s.normal, s.view), 0.0, 1.0));
    return vec4(diverging(s.value) * light, 1.0);
}
