// What is behind everything: one colour at the top, one at the bottom.

@vertex
fn vertex(@builtin(vertex_index) k: u32) -> @builtin(position) vec4<f32> {
    // One triangle that covers the picture, farther than all else.
    return vec4(f32(k & 1u) * 4.0 - 1.0, f32(k >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4(background(pixel.xy), 1.0);
}
