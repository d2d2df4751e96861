//! The numbers of a glTF file: buffers, views and accessors, each checked against the bytes that are there before memory is taken.

use std::borrow::Cow;

use super::gltf_json::{Accessor, Document};
use super::{ImportError, MeshFormat, Place, cut_short, malformed};

const FORMAT: MeshFormat = MeshFormat::Gltf;
const EXPORT_AGAIN: &str = "the file is not whole or its exporter is wrong; export it again";

/// Numbers that may be read for each byte of the file and of its buffers: sparse lists are short, and a list may be used more than once.
const NUMBERS_PER_BYTE: usize = 16;
/// Numbers that any file may have.
const NUMBERS: usize = 1 << 20;

/// A kind of number in a buffer.
#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u32) -> Option<Component> {
        Some(match code {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return None,
        })
    }

    fn size(self) -> u64 {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// The number at the start of some bytes, which are enough; whole ones as shares of the largest if they are normalised.
    fn number(self, bytes: &[u8], normalised: bool) -> f64 {
        let byte = |k: usize| bytes.get(k).copied().unwrap_or(0);
        let scaled = |value: f64, largest: f64| if normalised { (value / largest).max(-1.0) } else { value };
        match self {
            Component::I8 => scaled(f64::from(byte(0) as i8), 127.0),
            Component::U8 => scaled(f64::from(byte(0)), 255.0),
            Component::I16 => scaled(f64::from(i16::from_le_bytes([byte(0), byte(1)])), 32767.0),
            Component::U16 => scaled(f64::from(u16::from_le_bytes([byte(0), byte(1)])), 65535.0),
            Component::U32 => {
                scaled(f64::from(u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])), 4294967295.0)
            }
            Component::F32 => f64::from(f32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])),
        }
    }
}

/// The numbers of one accessor, element after element.
pub(super) struct Numbers {
    pub values: Vec<f64>,
    /// Numbers per element.
    pub width: usize,
}

impl Numbers {
    pub fn count(&self) -> usize {
        self.values.len() / self.width
    }

    /// Three numbers of an element; zeros if it is not there.
    pub fn triple(&self, element: usize) -> [f64; 3] {
        let at = element * self.width;
        std::array::from_fn(|k| self.values.get(at + k).copied().unwrap_or(0.0))
    }
}

/// What reads accessors.
pub(super) struct Accessors<'a> {
    document: &'a Document,
    buffers: &'a [Cow<'a, [u8]>],
    /// Numbers that may still be read.
    budget: usize,
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document, buffers: &'a [Cow<'a, [u8]>], file: usize) -> Accessors<'a> {
        let bytes = buffers.iter().fold(file, |sum, buffer| sum.saturating_add(buffer.len()));
        let budget = bytes.saturating_mul(NUMBERS_PER_BYTE).saturating_add(NUMBERS);
        Accessors { document, buffers, budget }
    }

    /// The numbers of an accessor, which must have one of some widths; whole numbers are shares if it says so, or if `as_shares`.
    pub fn read(&mut self, index: u32, widths: &[usize], as_shares: bool) -> Result<Numbers, ImportError> {
        let place = Place::Item("accessor", index as usize);
        let accessor = self.accessor(index)?;
        let width = match accessor.kind.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            other => {
                let what = format!("'{}' is no type of accessor", quotable(other));
                return Err(malformed(FORMAT, place, what, EXPORT_AGAIN));
            }
        };
        if !widths.contains(&width) {
            let what = format!("its type is {}, which does not fit its use", accessor.kind);
            return Err(malformed(FORMAT, place, what, EXPORT_AGAIN));
        }
        let component = component(accessor.component_type, place)?;
        let normalised = accessor.normalized || as_shares;
        let count = self.take(accessor.count, width, place)?;
        let mut values = match accessor.buffer_view {
            Some(view) => {
                let (bytes, stride) =
                    self.view(view, accessor.byte_offset, accessor.count, width, component, true, place)?;
                decode(bytes, stride, count, width, component, normalised)
            }
            None => vec![0.0; count * width],
        };
        if let Some(sparse) = &accessor.sparse {
            let changed = self.take(sparse.count, width, place)?;
            let of = component_of_indices(sparse.indices.component_type, place)?;
            let (bytes, stride) = self.view(
                sparse.indices.buffer_view,
                sparse.indices.byte_offset,
                sparse.count,
                1,
                of,
                false,
                place,
            )?;
            let places = decode(bytes, stride, changed, 1, of, false);
            let (bytes, stride) = self.view(
                sparse.values.buffer_view,
                sparse.values.byte_offset,
                sparse.count,
                width,
                component,
                false,
                place,
            )?;
            let with = decode(bytes, stride, changed, width, component, normalised);
            for (at, with) in places.iter().zip(with.chunks_exact(width)) {
                let at = *at as usize;
                let Some(element) = values.get_mut(at.saturating_mul(width)..(at + 1).saturating_mul(width))
                else {
                    return Err(ImportError::IndexOutOfRange {
                        format: FORMAT,
                        place,
                        what: "sparse element",
                        index: at as i64,
                        count,
                        counting: "from 0",
                    });
                };
                element.copy_from_slice(with);
            }
        }
        Ok(Numbers { values, width })
    }

    fn accessor(&self, index: u32) -> Result<&'a Accessor, ImportError> {
        let count = self.document.accessors.len();
        self.document.accessors.get(index as usize).ok_or(ImportError::IndexOutOfRange {
            format: FORMAT,
            place: Place::Item("accessor", index as usize),
            what: "accessor",
            index: i64::from(index),
            count,
            counting: "from 0",
        })
    }

    /// Refuses more numbers than the file can have for its size.
    pub(super) fn take(&mut self, count: u64, width: usize, place: Place) -> Result<usize, ImportError> {
        let numbers = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
        match numbers.and_then(|numbers| self.budget.checked_sub(numbers)) {
            Some(left) => {
                self.budget = left;
                Ok(count as usize)
            }
            None => {
                let what = format!("it announces {count} elements, more than a file of this size may have");
                Err(malformed(FORMAT, place, what, EXPORT_AGAIN))
            }
        }
    }

    /// The bytes from the first element of a view to its end, and the distance from element to element.
    fn view(
        &self,
        index: u32,
        offset: u64,
        count: u64,
        width: usize,
        component: Component,
        may_stride: bool,
        place: Place,
    ) -> Result<(&[u8], usize), ImportError> {
        let views = self.document.buffer_views.len();
        let Some(view) = self.document.buffer_views.get(index as usize) else {
            return Err(ImportError::IndexOutOfRange {
                format: FORMAT,
                place,
                what: "buffer view",
                index: i64::from(index),
                count: views,
                counting: "from 0",
            });
        };
        let Some(buffer) = self.buffers.get(view.buffer as usize) else {
            return Err(ImportError::IndexOutOfRange {
                format: FORMAT,
                place: Place::Item("buffer view", index as usize),
                what: "buffer",
                index: i64::from(view.buffer),
                count: self.buffers.len(),
                counting: "from 0",
            });
        };
        let element = width as u64 * component.size();
        let stride = view.byte_stride.filter(|_| may_stride).unwrap_or(element);
        if stride < element {
            let what = format!("a stride of {stride} bytes is shorter than an element of {element}");
            return Err(malformed(FORMAT, Place::Item("buffer view", index as usize), what, EXPORT_AGAIN));
        }
        let needed = match count {
            0 => Some(0),
            _ => (count - 1).checked_mul(stride).and_then(|bytes| bytes.checked_add(element)),
        };
        let end_in_view = needed.and_then(|needed| needed.checked_add(offset));
        let end = end_in_view.and_then(|end| end.checked_add(view.byte_offset));
        let (Some(in_view), Some(end)) = (end_in_view, end) else {
            return Err(malformed(FORMAT, place, "its place in the buffer has no number", EXPORT_AGAIN));
        };
        if in_view > view.byte_length {
            let what =
                format!("it needs {in_view} bytes of buffer view {index}, which has {}", view.byte_length);
            return Err(cut_short(
                FORMAT,
                view.byte_offset as usize,
                what,
                in_view,
                view.byte_length as usize,
            ));
        }
        let start = view.byte_offset.saturating_add(offset);
        let bytes = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        match bytes.and_then(|(start, end)| buffer.get(start..end)) {
            Some(bytes) => Ok((bytes, stride as usize)),
            None => {
                let what = format!("buffer {} has {} bytes, {end} are used", view.buffer, buffer.len());
                Err(cut_short(FORMAT, start as usize, what, end, buffer.len()))
            }
        }
    }
}

fn component(code: u32, place: Place) -> Result<Component, ImportError> {
    Component::of(code)
        .ok_or_else(|| malformed(FORMAT, place, format!("{code} is no type of component"), EXPORT_AGAIN))
}

fn component_of_indices(code: u32, place: Place) -> Result<Component, ImportError> {
    match component(code, place)? {
        whole @ (Component::U8 | Component::U16 | Component::U32) => Ok(whole),
        _ => Err(malformed(FORMAT, place, "its sparse indices are no whole numbers", EXPORT_AGAIN)),
    }
}

fn decode(
    bytes: &[u8],
    stride: usize,
    count: usize,
    width: usize,
    of: Component,
    normalised: bool,
) -> Vec<f64> {
    let mut values = Vec::with_capacity(count * width);
    for element in 0..count {
        for k in 0..width {
            let at = element * stride + k * of.size() as usize;
            values.push(of.number(bytes.get(at..).unwrap_or_default(), normalised));
        }
    }
    values
}

/// A name from a file, cut so that a message stays short.
pub(super) fn quotable(name: &str) -> String {
    name.chars().take(60).filter(|c| !c.is_control()).collect()
}
