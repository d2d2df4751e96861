//! Named fabrics: the one table of material presets (ESSI-19).
//!
//! Typical values of the trade, to one or two digits: mass per area and thickness from mill data sheets, stiffness from
//! the orders of magnitude of strip tests at small strain. A scene that needs a particular cloth writes its own numbers;
//! every one it writes replaces the one here.

/// Material numbers of a fabric. Moduli are tension per width and strain, N/m, that a spring family adds to the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Name used in scene files.
    pub name: &'static str,
    /// Mass per area, kg/m².
    pub density: f64,
    /// Thickness, m.
    pub thickness: f64,
    /// Modulus of stretch springs, N/m.
    pub stretch: f64,
    /// Modulus of shear springs, N/m.
    pub shear: f64,
    /// Modulus of bend springs, N/m.
    pub bend: f64,
    /// Rayleigh stiffness damping β, s.
    pub beta: f64,
    /// Length ratio at which it tears, if the scene asks for tearing without saying when.
    pub tear_ratio: f64,
    /// Radius of its smallest folds, m: by eye, on cloth compressed by hand.
    pub fold_radius: f64,
}

/// All presets.
pub const FABRICS: &[Fabric] = &[
    Fabric {
        name: "cotton",
        density: 0.15,
        thickness: 4e-4,
        stretch: 2000.0,
        shear: 150.0,
        bend: 5.0,
        beta: 2e-3,
        tear_ratio: 1.20,
        fold_radius: 0.008,
    },
    Fabric {
        name: "silk",
        density: 0.06,
        thickness: 1.5e-4,
        stretch: 1500.0,
        shear: 60.0,
        bend: 1.0,
        beta: 1e-3,
        tear_ratio: 1.25,
        fold_radius: 0.004,
    },
    Fabric {
        name: "wool",
        density: 0.25,
        thickness: 8e-4,
        stretch: 1500.0,
        shear: 100.0,
        bend: 8.0,
        beta: 4e-3,
        tear_ratio: 1.35,
        fold_radius: 0.012,
    },
    Fabric {
        name: "denim",
        density: 0.40,
        thickness: 8e-4,
        stretch: 6000.0,
        shear: 600.0,
        bend: 40.0,
        beta: 3e-3,
        tear_ratio: 1.20,
        fold_radius: 0.015,
    },
    Fabric {
        name: "leather",
        density: 0.90,
        thickness: 1.2e-3,
        stretch: 9000.0,
        shear: 3000.0,
        bend: 150.0,
        beta: 4e-3,
        tear_ratio: 1.40,
        fold_radius: 0.02,
    },
    Fabric {
        name: "rubber",
        density: 1.10,
        thickness: 1e-3,
        stretch: 1000.0,
        shear: 350.0,
        bend: 20.0,
        beta: 5e-3,
        tear_ratio: 5.00,
        fold_radius: 0.015,
    },
];

/// The preset of that name.
pub fn fabric(name: &str) -> Option<&'static Fabric> {
    FABRICS.iter().find(|f| f.name == name)
}
