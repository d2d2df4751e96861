//! Edges of the mesh alone (SIM-38).
//! @parameter shading = 0.35 from 0 to 1: how much darker edges are that face away from the light
//! @edges
//! @flat

fn shade(s: Surface) -> vec4<f32> {
    let facing = abs(dot(s.normal, frame.sun.xyz));
    return vec4(s.colour * (1.0 - shading() * (1.0 - facing)), 1.0);
}
