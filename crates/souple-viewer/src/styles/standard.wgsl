//! Matt cloth with a soft highlight (ESSI-58).
//! @parameter roughness = 0.7 from 0 to 1: how wide the highlight is
//! @parameter highlight = 0.12 from 0 to 1: how bright the highlight is
//! @parameter translucency = 0.3 from 0 to 1: share of the sun that shines through thin cloth

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let cosine = dot(s.normal, frame.sun.xyz);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let exponent = exp2(9.0 - 8.0 * roughness());
    let halfway = max(dot(s.normal, normalize(s.view + frame.sun.xyz)), 0.0);
    let shine = highlight() * pow(halfway, exponent) * max(cosine, 0.0);
    let matt = sun * (max(cosine, 0.0) + translucency() * max(-cosine, 0.0)) + ambient(s.normal);
    return vec4(base * matt + sun * shine, 1.0);
}
