//! What the elements of a solid are made of: the numbers of the body, and those of its parts by their labels (FAU-04).

use super::shape::Placed;
use super::{Checked, positive, stiffness, wrong};
use crate::energy::Yielding;
use crate::scene::{Body, Material, Plasticity};

/// Labels of the elements of a solid, or each that occurs once if elements are of several, and what has them.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    /// The labels, or none.
    pub(super) labels: &'a [u32],
    /// What one thing is called that has a label.
    pub(super) one: &'static str,
    /// What many are called.
    pub(super) many: &'static str,
}

/// Young's modulus and Poisson's ratio of every element of a solid, and when it gives way for good.
pub(super) struct Moduli {
    /// Of the body, then of each of its materials.
    table: Vec<(f64, f64)>,
    /// Row of the table for each element; empty if all are of the body.
    rows: Vec<u32>,
    /// When the body and each of its materials yields; empty if none ever does.
    yielding: Vec<Yielding>,
}

impl Moduli {
    /// Of what has these labels.
    pub(super) fn new(at: &str, body: &Body, of: Labelled) -> Checked<Moduli> {
        let rows = rows(at, body, of)?;
        let whole = body.poisson_ratio.unwrap_or(0.3);
        let mut table = vec![(0.0, check_poisson(&format!("{at}.poisson_ratio"), whole)?)];
        if body.young_modulus.is_some() || rows.is_empty() || rows.contains(&0) {
            let field = format!("{at}.young_modulus");
            let Some(young) = body.young_modulus else {
                return wrong(
                    &field,
                    match rows.iter().position(|&row| row == 0) {
                        None => "nothing holds the solid together".to_owned(),
                        Some(t) => {
                            format!("nothing holds the {} of label {} together", of.many, of.labels[t])
                        }
                    },
                    "give Young's modulus in Pa, e.g. 1e4 for jelly, 1e6 for rubber",
                );
            };
            table[0].0 = check_young(&field, young)?;
        }
        for (m, material) in body.materials.iter().enumerate() {
            let field = format!("{at}.material[{m}]");
            let young = match material.young_modulus {
                Some(young) => check_young(&format!("{field}.young_modulus"), young)?,
                None if body.young_modulus.is_some() => table[0].0,
                None => {
                    return wrong(
                        &format!("{field}.young_modulus"),
                        "neither the material nor the body has one",
                        "give Young's modulus in Pa, e.g. 1e4 for jelly, 1e6 for rubber",
                    );
                }
            };
            let poisson = material.poisson_ratio.unwrap_or(whole);
            table.push((young, check_poisson(&format!("{field}.poisson_ratio"), poisson)?));
        }
        Ok(Moduli { table, rows, yielding: build_yielding(at, body)? })
    }

    /// Whether something of it may give way for good.
    pub(super) fn is_plastic(&self) -> bool {
        !self.yielding.is_empty()
    }

    /// When the element or label at `t` gives way for good.
    pub(super) fn yielding(&self, t: usize) -> Yielding {
        let row = self.rows.get(t).map_or(0, |&row| row as usize);
        self.yielding.get(row).copied().unwrap_or(Yielding::NEVER)
    }

    /// Young's modulus, Pa, and Poisson's ratio of the element or label at `t`.
    pub(super) fn of(&self, t: usize) -> (f64, f64) {
        self.table[self.rows.get(t).map_or(0, |&row| row as usize)]
    }
}

/// When the body and each of its materials yields; empty if none does.
fn build_yielding(at: &str, body: &Body) -> Checked<Vec<Yielding>> {
    let check = |field: String, given: Option<Plasticity>| match given {
        None => Ok(Yielding::NEVER),
        Some(p) => Ok(Yielding {
            yield_stress: positive(&format!("{field}.yield_stress"), p.yield_stress, "Pa")?,
            creep: match p.creep {
                Some(creep) => positive(&format!("{field}.creep"), creep, "1/s")?,
                None => f64::INFINITY,
            },
            max_strain: positive(&format!("{field}.max_strain"), p.max_strain, "1")?,
        }),
    };
    let mut all = vec![check(format!("{at}.plasticity"), body.plasticity)?];
    for (m, material) in body.materials.iter().enumerate() {
        let field = format!("{at}.material[{m}].plasticity");
        all.push(check(field, material.plasticity.or(body.plasticity))?);
    }
    let never = all.iter().all(|y| *y == Yielding::NEVER);
    Ok(if never { Vec::new() } else { all })
}

/// Mass per volume of every element or label, kg/m³; none if no material has its own.
pub(super) fn solid_densities(at: &str, body: &Body, placed: &Placed) -> Checked<Option<Vec<f64>>> {
    let own = |m: &Material| m.density.is_some();
    if (placed.tetrahedra.is_empty() && placed.cells.is_none()) || !body.materials.iter().any(own) {
        return Ok(None);
    }
    if body.mass.is_some() {
        return wrong(
            &format!("{at}.mass"),
            "both the mass of the body and densities of its materials are given",
            "keep one of the two",
        );
    }
    let of = placed.labelled();
    let rows = rows(at, body, of)?;
    let mut table = vec![None];
    if let Some(density) = body.density {
        table[0] = Some(positive(&format!("{at}.density"), density, "kg/m³")?);
    }
    for (m, material) in body.materials.iter().enumerate() {
        table.push(match material.density {
            Some(density) => Some(positive(&format!("{at}.material[{m}].density"), density, "kg/m³")?),
            None => table[0],
        });
    }
    let mut densities = Vec::with_capacity(rows.len());
    for (t, &row) in rows.iter().enumerate() {
        let Some(density) = table[row as usize] else {
            return wrong(
                &format!("{at}.density"),
                format!("the {} of label {} have no mass", of.many, of.labels[t]),
                "give `density` of the body or of their material in kg/m³",
            );
        };
        densities.push(density);
    }
    Ok(Some(densities))
}

/// For each element 0 if it is of the body's material, or 1 + the number of its own; empty if the body has one for all.
fn rows(at: &str, body: &Body, of: Labelled) -> Checked<Vec<u32>> {
    if body.materials.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = of.labels.to_vec();
    known.sort_unstable();
    known.dedup();
    let mut by_label: Vec<(u32, u32)> = Vec::new();
    for (row, (m, material)) in (1u32..).zip(body.materials.iter().enumerate()) {
        let field = format!("{at}.material[{m}].label");
        if known.binary_search(&material.label).is_err() {
            return wrong(
                &field,
                format!("no {} has the label {}", of.one, material.label),
                match known.is_empty() {
                    true => {
                        "the shape has no labels: leave `material` out, or use a mesh with labels".to_owned()
                    }
                    false => format!("known labels: {}", listed(&known)),
                },
            );
        }
        if by_label.iter().any(|&(label, _)| label == material.label) {
            return wrong(
                &field,
                format!("the label {} has two materials", material.label),
                "keep one of the two",
            );
        }
        by_label.push((material.label, row));
    }
    by_label.sort_unstable();
    let row_of = |label: &u32| match by_label.binary_search_by_key(label, |&(label, _)| label) {
        Ok(found) => by_label[found].1,
        Err(_) => 0,
    };
    Ok(of.labels.iter().map(row_of).collect())
}

/// The first few labels, for a message.
pub(super) fn listed(labels: &[u32]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = labels.iter().take(MOST).map(u32::to_string).collect();
    let more = if labels.len() > MOST { format!(" and {} more", labels.len() - MOST) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn check_young(field: &str, young: f64) -> Checked<f64> {
    stiffness(field, positive(field, young, "Pa")?, "Pa")
}

fn check_poisson(field: &str, poisson: f64) -> Checked<f64> {
    if poisson.is_nan() || poisson <= -1.0 || poisson >= 0.5 {
        return wrong(
            field,
            format!("it must be above −1 and below 0.5, but is {poisson}"),
            "0.3 is usual; of flesh and rubber 0.45 to 0.49: at 0.5 no volume could change, which elements cannot do",
        );
    }
    Ok(poisson)
}
