//! Gmsh `.msh`, versions 2.2 and 4.1, text and binary of either byte order (FAU-01, FAU-04), after chapter 10 of the manual of
//! Gmsh 4.13.
//!
//! Read: nodes, tetrahedra (element type 4) and the corners of tetrahedra of second order (type 11). The label of a tetrahedron is
//! its first physical group: in 2.2 its first tag, in 4.1 the first group of the volume it belongs to. Other elements and other
//! sections (names, periodic nodes, partitions, data) are passed over. Nodes may have any numbers; they must stand before the
//! elements, as Gmsh writes them. Versions 1, 2.0, 2.1, 3 and 4.0 are not read: "Save as" with another version makes 4.1.

use std::collections::HashMap;

use super::numbers::{Encoding, Numbers, Scalar};
use super::reader::{Words, excerpt};
use super::solid::{Found, label};
use super::{ImportError, Limits, MeshFormat, Place, malformed};

const FORMAT: MeshFormat = MeshFormat::Gmsh;

/// What to do about a version or a kind that is not read.
const SAVE_AGAIN: &str = "save it as version 4.1 or 2.2: gmsh -3 -format msh41 IN -o OUT";

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Found, ImportError> {
    let mut numbers = Numbers::new(Words::new(bytes, 0, 1), FORMAT);
    if numbers.words.first_word() != Some(b"$MeshFormat") {
        let what = "a Gmsh file begins with a line '$MeshFormat', this one does not";
        return Err(ImportError::WrongFormat { format: FORMAT, what });
    }
    let version = read_version(&mut numbers)?;
    let mut mesh =
        Gmsh { version, numbers, limits, found: Found::default(), tags: None, groups: HashMap::new() };
    while let Some(word) = mesh.section_name() {
        match word {
            b"$Nodes" if mesh.tags.is_some() => {
                return Err(mesh.numbers.wrong("a second section of nodes", "save one mesh per file"));
            }
            b"$Entities" if version == Version::V41 => mesh.read_entities()?,
            b"$Nodes" => mesh.read_nodes()?,
            b"$Elements" => mesh.read_elements()?,
            [b'$', name @ ..] => {
                mesh.skip_section(name)?;
                continue;
            }
            _ => return Err(mesh.numbers.unexpected(word, "a section such as '$Nodes'")),
        }
        mesh.end_section(word)?;
    }
    Ok(mesh.found)
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    V22,
    V41,
}

/// Reads the first section: version, encoding, byte order.
fn read_version(numbers: &mut Numbers<'_>) -> Result<Version, ImportError> {
    let word = numbers.word("the version of the format")?;
    let version = match word {
        b"2.2" => Version::V22,
        b"4.1" => Version::V41,
        _ => {
            let what = format!("version '{}' of the format is not read", excerpt(word));
            return Err(malformed(FORMAT, numbers.words.place(), what, SAVE_AGAIN));
        }
    };
    let binary = match numbers.word("the encoding")? {
        b"0" => false,
        b"1" => true,
        word => return Err(numbers.unexpected(word, "0 for text or 1 for binary")),
    };
    if numbers.word("the size of numbers")? != b"8" {
        return Err(numbers.wrong("numbers are not of 8 bytes", SAVE_AGAIN));
    }
    if binary {
        numbers.words.skip_line_before_binary();
        let at = Place::Byte(numbers.words.offset());
        let big_endian = match numbers.words.take(4) {
            Some([1, 0, 0, 0]) => false,
            Some([0, 0, 0, 1]) => true,
            _ => {
                let what = "the number 1 that tells the byte order is missing";
                return Err(malformed(FORMAT, at, what, "the file is damaged: export or copy it again"));
            }
        };
        numbers.encoding = Encoding::Binary { big_endian };
    }
    match numbers.words.first_word() {
        Some(b"$EndMeshFormat") => Ok(version),
        word => Err(numbers.unexpected(word.unwrap_or_default(), "'$EndMeshFormat'")),
    }
}

/// Where the nodes are in the list of vertices.
enum Tags {
    /// Numbered one after the other from here on.
    From(u64),
    Any(HashMap<u64, u32>),
}

struct Gmsh<'a> {
    version: Version,
    numbers: Numbers<'a>,
    limits: &'a Limits,
    found: Found,
    tags: Option<Tags>,
    /// First physical group of each volume.
    groups: HashMap<i64, f64>,
}

impl<'a> Gmsh<'a> {
    /// The word that opens a section; in binary files the rest of its line ends there too.
    fn section_name(&mut self) -> Option<&'a [u8]> {
        let word = self.numbers.words.first_word()?;
        // 2.2 writes a count as text before its binary rows, 4.1 does not.
        if self.is_binary() && self.version == Version::V41 {
            self.numbers.words.skip_line_before_binary();
        }
        Some(word)
    }

    fn is_binary(&self) -> bool {
        self.numbers.encoding != Encoding::Text
    }

    fn end_section(&mut self, name: &[u8]) -> Result<(), ImportError> {
        let name = name.get(1..).unwrap_or_default();
        match self.numbers.words.first_word() {
            Some(word) if word.strip_prefix(b"$End") == Some(name) => Ok(()),
            word => {
                let wanted = format!("'$End{}'", excerpt(name));
                Err(self.numbers.unexpected(word.unwrap_or_default(), &wanted))
            }
        }
    }

    fn skip_section(&mut self, name: &[u8]) -> Result<(), ImportError> {
        let end = [b"$End", name].concat();
        let found = if self.is_binary() {
            self.numbers.words.skip_past(&end)
        } else {
            loop {
                match self.numbers.words.first_word() {
                    Some(word) if word == end => break true,
                    Some(_) => self.numbers.words.next_line(),
                    None => break false,
                };
            }
        };
        if found {
            return Ok(());
        }
        let what = format!("the section '${}' has no end", excerpt(name));
        Err(self.numbers.wrong(what, "the file is cut short: export or copy it again"))
    }

    /// Reads the physical groups of volumes.
    fn read_entities(&mut self) -> Result<(), ImportError> {
        let numbers = &mut self.numbers;
        let mut counts = [0; 4];
        for count in &mut counts {
            let n = numbers.whole(Scalar::U64, "a count of entities")?;
            *count = numbers.room(n, 16, "entities")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let tag = numbers.signed(Scalar::I32, "the number of an entity")?;
                numbers.skip(Scalar::F64, if dimension == 0 { 3 } else { 6 }, "the box of an entity")?;
                let groups = numbers.whole(Scalar::U64, "a count of physical groups")?;
                let groups = numbers.room(groups, 4, "physical groups")?;
                for group in 0..groups {
                    let value = numbers.number(Scalar::I32, "a physical group")?;
                    if dimension == 3 && group == 0 {
                        self.groups.insert(tag, value);
                    }
                }
                if dimension > 0 {
                    let bounding = numbers.whole(Scalar::U64, "a count of bounding entities")?;
                    let bounding = numbers.room(bounding, 4, "bounding entities")?;
                    numbers.skip(Scalar::I32, bounding, "a bounding entity")?;
                }
            }
        }
        Ok(())
    }

    fn read_nodes(&mut self) -> Result<(), ImportError> {
        let mut tags = Vec::new();
        match self.version {
            Version::V22 => self.read_nodes_22(&mut tags)?,
            Version::V41 => self.read_nodes_41(&mut tags)?,
        }
        self.tags = Some(self.index_tags(&tags)?);
        Ok(())
    }

    fn read_nodes_22(&mut self, tags: &mut Vec<u64>) -> Result<(), ImportError> {
        let count = self.numbers.text_count(28, "nodes")?;
        self.limits.check_vertices(FORMAT, self.numbers.place(), count)?;
        if self.is_binary() {
            self.numbers.words.skip_line_before_binary();
        }
        for _ in 0..count {
            tags.push(self.numbers.whole(Scalar::I32, "the number of a node")?);
            self.read_position(0)?;
        }
        Ok(())
    }

    fn read_nodes_41(&mut self, tags: &mut Vec<u64>) -> Result<(), ImportError> {
        let (blocks, count) = self.read_counts("nodes", 32)?;
        self.limits.check_vertices(FORMAT, self.numbers.place(), count)?;
        for _ in 0..blocks {
            let dimension = self.numbers.whole(Scalar::I32, "the dimension of an entity")?;
            self.numbers.signed(Scalar::I32, "the number of an entity")?;
            let parametric = self.numbers.whole(Scalar::I32, "whether nodes have parameters")? != 0;
            let nodes = self.numbers.whole(Scalar::U64, "a count of nodes")?;
            let nodes = self.numbers.room(nodes, 32, "nodes")?;
            for _ in 0..nodes {
                tags.push(self.numbers.whole(Scalar::U64, "the number of a node")?);
            }
            let more = if parametric { dimension.min(3) as usize } else { 0 };
            for _ in 0..nodes {
                self.read_position(more)?;
            }
        }
        Ok(())
    }

    /// The first line of nodes and of elements in 4.1: how many blocks there are, and how many in all.
    fn read_counts(&mut self, what: &str, each: usize) -> Result<(usize, usize), ImportError> {
        let blocks = self.numbers.whole(Scalar::U64, "a count of blocks")?;
        let blocks = self.numbers.room(blocks, 20, "blocks")?;
        let count = self.numbers.whole(Scalar::U64, &format!("a count of {what}"))?;
        let count = self.numbers.room(count, each, what)?;
        self.numbers.skip(Scalar::U64, 2, "the smallest and the largest number")?;
        Ok((blocks, count))
    }

    /// Reads a place, and passes over parameters on its line or surface.
    fn read_position(&mut self, more: usize) -> Result<(), ImportError> {
        let place = self.numbers.place();
        let mut p = [0.0; 3];
        for coordinate in &mut p {
            *coordinate = self.numbers.number(Scalar::F64, "a coordinate of a node")?;
        }
        self.numbers.skip(Scalar::F64, more, "a parameter of a node")?;
        self.found.vertex(p, FORMAT, place, self.limits)
    }

    fn index_tags(&self, tags: &[u64]) -> Result<Tags, ImportError> {
        let first = tags.first().copied().unwrap_or_default();
        if (first..).zip(tags).all(|(expected, &tag)| tag == expected) {
            return Ok(Tags::From(first));
        }
        let mut index = HashMap::with_capacity(tags.len());
        for (v, &tag) in (0u32..).zip(tags) {
            if index.insert(tag, v).is_some() {
                let what = format!("two nodes have the number {tag}");
                return Err(self.numbers.wrong(what, "save the mesh again, with each node once"));
            }
        }
        Ok(Tags::Any(index))
    }

    fn read_elements(&mut self) -> Result<(), ImportError> {
        if self.tags.is_none() {
            return Err(self.numbers.wrong("elements stand before the nodes", "save the mesh again"));
        }
        match self.version {
            Version::V22 if self.is_binary() => self.read_elements_22_binary(),
            Version::V22 => self.read_elements_22_text(),
            Version::V41 => self.read_elements_41(),
        }
    }

    fn read_elements_22_text(&mut self) -> Result<(), ImportError> {
        let count = self.numbers.text_count(24, "elements")?;
        for _ in 0..count {
            let name = self.numbers.whole(Scalar::I32, "the number of an element")?;
            let kind = self.numbers.whole(Scalar::I32, "the type of an element")?;
            if is_tetrahedron(kind) {
                let tags = self.numbers.whole(Scalar::I32, "a count of tags")?;
                let tags = self.numbers.room(tags, 4, "tags")?;
                let group = if tags > 0 { self.numbers.number(Scalar::I32, "a tag")? } else { 0.0 };
                self.numbers.skip(Scalar::I32, tags.saturating_sub(1), "a tag")?;
                self.read_tetrahedron(Scalar::I32, group, name)?;
            }
            self.numbers.words.next_line();
        }
        Ok(())
    }

    fn read_elements_22_binary(&mut self) -> Result<(), ImportError> {
        let count = self.numbers.text_count(8, "elements")?;
        self.numbers.words.skip_line_before_binary();
        let mut done = 0;
        while done < count {
            let kind = self.numbers.whole(Scalar::I32, "the type of elements")?;
            let nodes = self.node_count(kind)?;
            let here = self.numbers.whole(Scalar::I32, "a count of elements")?;
            let tags = self.numbers.whole(Scalar::I32, "a count of tags")?;
            let tags = self.numbers.room(tags, 4, "tags")?;
            let here = self.numbers.room(here, 4 * (1 + tags + nodes), "elements")?;
            if here == 0 {
                return Err(self.numbers.wrong("a block of no elements", "save the mesh again"));
            }
            for _ in 0..here {
                let name = self.numbers.whole(Scalar::I32, "the number of an element")?;
                let group = if tags > 0 { self.numbers.number(Scalar::I32, "a tag")? } else { 0.0 };
                self.numbers.skip(Scalar::I32, tags.saturating_sub(1), "a tag")?;
                self.read_binary_nodes(Scalar::I32, kind, nodes, group, name)?;
            }
            done += here;
        }
        Ok(())
    }

    fn read_elements_41(&mut self) -> Result<(), ImportError> {
        let (blocks, _) = self.read_counts("elements", 16)?;
        for _ in 0..blocks {
            let dimension = self.numbers.whole(Scalar::I32, "the dimension of an entity")?;
            let entity = self.numbers.signed(Scalar::I32, "the number of an entity")?;
            let kind = self.numbers.whole(Scalar::I32, "the type of elements")?;
            let here = self.numbers.whole(Scalar::U64, "a count of elements")?;
            let group = if dimension == 3 { self.groups.get(&entity).copied() } else { None };
            let group = group.unwrap_or_default();
            if self.is_binary() {
                let nodes = self.node_count(kind)?;
                let here = self.numbers.room(here, 8 * (1 + nodes), "elements")?;
                for _ in 0..here {
                    let name = self.numbers.whole(Scalar::U64, "the number of an element")?;
                    self.read_binary_nodes(Scalar::U64, kind, nodes, group, name)?;
                }
            } else {
                let here = self.numbers.room(here, 16, "elements")?;
                for _ in 0..here {
                    let name = self.numbers.whole(Scalar::U64, "the number of an element")?;
                    if is_tetrahedron(kind) {
                        self.read_tetrahedron(Scalar::U64, group, name)?;
                    }
                    self.numbers.words.next_line();
                }
            }
        }
        Ok(())
    }

    fn read_binary_nodes(
        &mut self,
        scalar: Scalar,
        kind: u64,
        nodes: usize,
        group: f64,
        name: u64,
    ) -> Result<(), ImportError> {
        if !is_tetrahedron(kind) {
            return self.numbers.skip(scalar, nodes, "a node of an element");
        }
        self.read_tetrahedron(scalar, group, name)?;
        self.numbers.skip(scalar, nodes - 4, "a node of an element")
    }

    /// Reads the corners of a tetrahedron, and not what follows them.
    fn read_tetrahedron(&mut self, scalar: Scalar, group: f64, name: u64) -> Result<(), ImportError> {
        let place = self.numbers.place();
        let mut corners = [0; 4];
        for corner in &mut corners {
            let tag = self.numbers.whole(scalar, "a node of an element")?;
            *corner = self.vertex(tag).ok_or_else(|| {
                let count = self.found.positions.len();
                let what = format!("element {name} names node {tag}, which is none of the {count} nodes");
                malformed(FORMAT, place, what, "the file is not whole or its exporter is wrong")
            })?;
        }
        self.found.tetrahedron(corners, label(group), name, FORMAT, place, self.limits)
    }

    fn vertex(&self, tag: u64) -> Option<u32> {
        match self.tags.as_ref()? {
            Tags::From(first) => {
                let v = tag.checked_sub(*first).filter(|&v| v < self.found.positions.len() as u64)?;
                u32::try_from(v).ok()
            }
            Tags::Any(index) => index.get(&tag).copied(),
        }
    }

    /// How many nodes an element has, which text files need not say.
    fn node_count(&self, kind: u64) -> Result<usize, ImportError> {
        const NODES: [usize; 32] = [
            0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,
            6, 20, 35, 56,
        ];
        let known = usize::try_from(kind).ok().and_then(|kind| match kind {
            92 => Some(64),
            93 => Some(125),
            _ => NODES.get(kind).copied().filter(|&nodes| nodes > 0),
        });
        known.ok_or_else(|| {
            let what = format!("element type {kind} is not known");
            self.numbers
                .wrong(what, "save the volume elements alone, or as text (gmsh -3 -format msh41 -bin 0)")
        })
    }
}

/// Tetrahedra of first and of second order.
fn is_tetrahedron(kind: u64) -> bool {
    kind == 4 || kind == 11
}
