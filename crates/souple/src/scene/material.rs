//! What the parts of a solid are made of, and when they give way for good, as the user writes it (FAU-04).

use serde::{Deserialize, Serialize};

scene_type! {
    /// What the tetrahedra or voxels of one label are made of: a physical group, a region or a reference of the mesh file, a label of the volume.
    /// What is not written is that of the body.
    #[derive(Copy, Default)]
    pub struct Material {
        /// Label of the tetrahedra or voxels.
        pub label: u32,
        /// Young's modulus, Pa.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub young_modulus: Option<f64>,
        /// Poisson's ratio, above −1 and below 0.5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub poisson_ratio: Option<f64>,
        /// Mass per volume, kg/m³.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub density: Option<f64>,
        /// When it gives way for good.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub plasticity: Option<Plasticity>,
    }
}

scene_type! {
    /// When a solid gives way for good: clay, lead, dough.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Plasticity {
        /// Von Mises' stress at which it yields, Pa: of a bar that is pulled, force per cross section.
        pub yield_stress: f64,
        /// How fast stress beyond that goes away as it flows, 1/s; at once without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creep: Option<f64>,
        /// Most strain that is kept for good: the logarithm of the length of a bar over what it was. Beyond it is elastic.
        pub max_strain: f64,
    }
}

impl Default for Plasticity {
    fn default() -> Self {
        Plasticity { yield_stress: 1e3, creep: None, max_strain: 1.0 }
    }
}

scene_type! {
    /// When a sheet keeps a bend for good: paper, foil, sheet metal.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Creasing {
        /// Radius up to which it springs back, m; of what is bent more tightly, it springs back by as much as from there. Of a sheet of thickness t that yields at a
        /// strain ε that is t / 2ε.
        pub radius: f64,
        /// How fast what is beyond is kept, 1/s; at once without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creep: Option<f64>,
    }
}

impl Default for Creasing {
    fn default() -> Self {
        Creasing { radius: 0.01, creep: None }
    }
}

scene_type! {
    /// Pulls a body to where its shape at rest fits it best, without elements or springs: for soft things that need only look right.
    #[serde(default)]
    #[derive(Copy)]
    pub struct ShapeMatching {
        /// Frequency at which a shape that was pulled swings back, Hz: how stiff it is, the same at any step.
        pub frequency: f64,
        /// How freely it stretches and shears as a whole: 0 only as `frequency` lets it, near 1 as it likes; below 1.
        pub linear: f64,
    }
}

impl Default for ShapeMatching {
    fn default() -> Self {
        ShapeMatching { frequency: 5.0, linear: 0.0 }
    }
}
