//! Lacquer that mirrors a cube map, or the image of the look, twice as wide as high (ESSI-63).
//! @parameter reflection = 0.6 from 0 to 1: share of the surroundings that is mirrored
//! @parameter brightness = 1 from 0 to 4: how bright the surroundings are

fn shade(s: Surface) -> vec4<f32> {
    let bounce = reflect(-s.view, s.normal);
    let at = vec2(atan2(bounce.x, -bounce.z) / (2.0 * PI) + 0.5, acos(clamp(bounce.y, -1.0, 1.0)) / PI);
    // Level 0: neighbouring pixels on both sides of the seam would ask for the smallest level.
    let seen = textureSampleLevel(image, image_sampler, at, 0.0).rgb;
    let mirrored = select(reflected(bounce, 0.0), seen, item.flags.x > 0.5) * brightness();
    let cosine = max(dot(s.normal, frame.sun.xyz), 0.0);
    let sun = frame.sun_light.rgb * cosine * sunlight(s.position, s.normal);
    let share = reflection() * fresnel(0.35, max(dot(s.normal, s.view), 0.0));
    return vec4(mix(s.colour * (sun + ambient(s.normal)), mirrored, share), 1.0);
}
