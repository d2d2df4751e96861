//! Satin: highlights along the threads (ESSI-61).
//! @parameter exponent = 18 from 2 to 120: how narrow the bands of light are
//! @parameter sheen = 0.55 from 0 to 2: how bright they are
//! @parameter weave_deg = 0 from 0 to 180: direction of the threads, degrees from u

fn shade(s: Surface) -> vec4<f32> {
    let base = material(s);
    let sun = frame.sun_light.rgb * sunlight(s.position, s.normal);
    let cosine = dot(s.normal, frame.sun.xyz);
    let turn = weave_deg() * PI / 180.0;
    let thread = normalize(s.tangent * cos(turn) + s.bitangent * sin(turn));
    // Light on a thread goes out in a cone about it: sines instead of cosines.
    let t_sun = dot(thread, frame.sun.xyz);
    let t_eye = dot(thread, s.view);
    let sines = sqrt(max(1.0 - t_sun * t_sun, 0.0)) * sqrt(max(1.0 - t_eye * t_eye, 0.0));
    let band = pow(max(sines - t_sun * t_eye, 0.0), exponent());
    // Threads of a bent surface are hidden by it when it turns away from the sun.
    let facing = smoothstep(0.0, 0.35, cosine);
    let mirrored = reflected(reflect(-s.view, s.normal), 0.6);
    let light = sun * (0.75 * max(cosine, 0.0) + 0.12 * max(-cosine, 0.0)) + ambient(s.normal);
    let shine = sun * band * facing + 0.25 * mirrored * pow(sines, 4.0);
    return vec4(base * light + (0.35 + 0.65 * base) * sheen() * shine, 1.0);
}
