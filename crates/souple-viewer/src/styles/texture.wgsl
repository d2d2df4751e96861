//! The image of the look on the surface, lit (ESSI-70).
//! @parameter repeat = 1 from 1 to 64: how often the image fits along u and v
//! @parameter highlight = 0.08 from 0 to 1: how bright the highlight is

fn shade(s: Surface) -> vec4<f32> {
    let texel = textureSample(image, image_sampler, s.uv * repeat()).rgb;
    let base = select(s.colour, texel * select(vec3(0.75), vec3(1.0), s.front), item.flags.x > 0.5);
    let cosine = dot(s.normal, frame.sun.xyz);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let halfway = max(dot(s.normal, normalize(s.view + frame.sun.xyz)), 0.0);
    let light = sun * (max(cosine, 0.0) + 0.25 * max(-cosine, 0.0)) + ambient(s.normal);
    return vec4(base * light + sun * highlight() * pow(halfway, 24.0) * max(cosine, 0.0), 1.0);
}
