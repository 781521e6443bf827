//! JavaScript values as serde reads them. An error carries the path of the value that does not fit; what a getter or a
//! proxy throws is such an error.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, JsString, Map, Uint8Array};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::json;

// Whatever runs the caller's code may throw, and what is thrown through wasm leaves the instance damaged.
#[wasm_bindgen]
extern "C" {
    type Any;

    #[wasm_bindgen(catch, method, indexing_getter)]
    fn get(this: &Any, key: &JsString) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, method, indexing_getter)]
    fn at(this: &Any, index: u32) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, method, getter)]
    fn length(this: &Any) -> Result<u32, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Object, js_name = keys)]
    fn keys_of(object: &JsValue) -> Result<Array, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Array, js_name = isArray)]
    fn is_list(value: &JsValue) -> Result<bool, JsValue>;
}

/// Why a value cannot be read, and where in the whole it is.
#[derive(Debug)]
pub(super) struct Misfit(Box<(String, String)>);

impl Misfit {
    #[cold]
    fn new(message: String) -> Self {
        Self(Box::new((String::new(), message)))
    }

    /// Something that the caller's own code threw when it was asked for the value.
    #[cold]
    fn thrown(thrown: &JsValue) -> Self {
        Self::new(format!("asking for it threw: {}", said(thrown)))
    }

    #[cold]
    fn under_key(mut self, key: &str) -> Self {
        self.0.0 = json::under_key(key, &self.0.0);
        self
    }

    #[cold]
    fn under_index(mut self, index: u32) -> Self {
        self.0.0 = json::under_index(index as usize, &self.0.0);
        self
    }
}

/// What an exception says.
#[cold]
pub(super) fn said(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    message.or_else(|| thrown.as_string()).unwrap_or_default()
}

impl From<Misfit> for Error {
    fn from(Misfit(inner): Misfit) -> Self {
        json::shape_error(&inner.0, &inner.1)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.1)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    // What it is instead, the caller can see.
    #[cold]
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("something else, expected {expected}"))
    }

    #[cold]
    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("something else, expected {expected}"))
    }
}

thread_local! {
    /// The names of the fields of each type as JavaScript has them: making a string anew for each object takes longer
    /// than all the rest. There are as many as the crate has types.
    static NAMES: RefCell<Vec<Names>> = const { RefCell::new(Vec::new()) };
}

type Names = (&'static [&'static str], Rc<[JsString]>);

fn names(fields: &'static [&'static str]) -> Rc<[JsString]> {
    NAMES.with_borrow_mut(|known| {
        if let Some((_, names)) = known.iter().find(|(known, _)| std::ptr::eq(*known, fields)) {
            return Rc::clone(names);
        }
        let names: Rc<[JsString]> = fields.iter().map(|&field| JsString::from(field)).collect();
        known.push((fields, Rc::clone(&names)));
        names
    })
}

/// A value to be read.
pub(super) struct Reader(pub(super) JsValue);

impl Reader {
    #[cold]
    #[inline(never)]
    fn misfit(expected: &dyn de::Expected) -> Misfit {
        de::Error::invalid_type(de::Unexpected::Unit, expected)
    }

    /// A whole number that JavaScript can tell from its neighbours.
    fn whole(&self) -> Option<i64> {
        const SAFE: f64 = 9_007_199_254_740_991.0;
        let number = self.0.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= SAFE)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        Some(number as i64)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        let buffer = || self.0.dyn_ref::<ArrayBuffer>().map(|buffer| Uint8Array::new(buffer).to_vec());
        self.0.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).or_else(buffer)
    }

    fn is_list(&self) -> Result<bool, Misfit> {
        is_list(&self.0).map_err(|thrown| Misfit::thrown(&thrown))
    }

    /// Null or undefined.
    fn is_nothing(&self) -> bool {
        self.0.loose_eq(&JsValue::NULL)
    }

    /// What is in the list, `None` where it is none.
    #[inline(never)]
    fn items(&self) -> Result<Option<Items>, Misfit> {
        if !self.is_list()? {
            return Ok(None);
        }
        let list: Any = self.0.clone().unchecked_into();
        let length = list.length().map_err(|thrown| Misfit::thrown(&thrown))?;
        Ok(Some(Items { list, next: 0, length }))
    }

    /// What is in the object or in the `Map`, `None` where it is neither.
    #[inline(never)]
    fn entries(&self) -> Result<Option<Entries>, Misfit> {
        if !self.0.is_object() || self.is_list()? {
            return Ok(None);
        }
        let (object, keys) = match self.0.dyn_ref::<Map>() {
            Some(map) => (None, Array::from(map)),
            None => {
                (Some(self.0.clone().unchecked_into()), keys_of(&self.0).map_err(|thrown| Misfit::thrown(&thrown))?)
            }
        };
        Ok(Some(Entries { object, keys, next: 0, pending: None }))
    }

    /// The fields of the object, `None` where it is none.
    #[inline(never)]
    fn fields(self, fields: &'static [&'static str]) -> Result<Option<Fields>, Misfit> {
        if !self.0.is_object() || self.is_list()? {
            return Ok(None);
        }
        Ok(Some(Fields { object: self.0.unchecked_into(), fields, names: names(fields), next: 0, pending: None }))
    }
}

macro_rules! same_as {
    ($as:ident: $($name:ident)+) => { $(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.$as(visitor)
        }
    )+ };
}

impl<'de> de::Deserializer<'de> for Reader {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if let Some(value) = self.0.as_string() {
            visitor.visit_string(value)
        } else if let Some(value) = self.whole() {
            visitor.visit_i64(value)
        } else if let Some(value) = self.0.as_f64() {
            visitor.visit_f64(value)
        } else if let Some(value) = self.0.as_bool() {
            visitor.visit_bool(value)
        } else if self.is_nothing() {
            visitor.visit_unit()
        } else if !self.0.is_object() {
            Err(Self::misfit(&visitor))
        } else if let Some(items) = self.items()? {
            visitor.visit_seq(items)
        } else if let Some(bytes) = self.bytes() {
            visitor.visit_byte_buf(bytes)
        } else {
            self.deserialize_map(visitor)
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.is_nothing() { visitor.visit_unit() } else { Err(Self::misfit(&visitor)) }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.as_bool() {
            Some(value) => visitor.visit_bool(value),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.as_f64() {
            Some(value) => visitor.visit_f64(value),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.whole() {
            Some(value) => visitor.visit_i64(value),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.as_string() {
            Some(value) => visitor.visit_string(value),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.bytes() {
            Some(bytes) => visitor.visit_byte_buf(bytes),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.items()? {
            Some(items) => visitor.visit_seq(items),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.entries()? {
            Some(entries) => visitor.visit_map(entries),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.fields(fields)? {
            Some(fields) => visitor.visit_map(fields),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        if let Some(name) = self.0.as_string() {
            return visitor.visit_enum(name.into_deserializer());
        }
        match self.entries()? {
            Some(entries) => visitor.visit_enum(MapAccessDeserializer::new(entries)),
            None => Err(Self::misfit(&visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    /// What is ignored is not even looked at.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    same_as!(deserialize_i64: deserialize_i8 deserialize_i16 deserialize_i32);
    same_as!(deserialize_i64: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    same_as!(deserialize_f64: deserialize_f32);
    same_as!(deserialize_string: deserialize_char deserialize_str deserialize_identifier);
    same_as!(deserialize_byte_buf: deserialize_bytes);
}

/// The items of a list.
struct Items {
    list: Any,
    next: u32,
    length: u32,
}

impl Items {
    #[inline(never)]
    fn advance(&mut self) -> Result<Option<(u32, JsValue)>, Misfit> {
        if self.next >= self.length {
            return Ok(None);
        }
        let index = self.next;
        self.next += 1;
        match self.list.at(index) {
            Ok(item) => Ok(Some((index, item))),
            Err(thrown) => Err(Misfit::thrown(&thrown).under_index(index)),
        }
    }
}

impl<'de> de::SeqAccess<'de> for Items {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        let Some((index, item)) = self.advance()? else { return Ok(None) };
        seed.deserialize(Reader(item)).map(Some).map_err(|misfit| misfit.under_index(index))
    }
}

/// The fields of an object that a type has. What is undefined is as good as absent.
struct Fields {
    object: Any,
    fields: &'static [&'static str],
    names: Rc<[JsString]>,
    next: usize,
    pending: Option<(&'static str, JsValue)>,
}

impl Fields {
    #[inline(never)]
    fn advance(&mut self) -> Result<Option<&'static str>, Misfit> {
        while let (Some(&field), Some(name)) = (self.fields.get(self.next), self.names.get(self.next)) {
            self.next += 1;
            let value = self.object.get(name);
            let value = value.map_err(|thrown| Misfit::thrown(&thrown).under_key(field))?;
            if !value.is_undefined() {
                self.pending = Some((field, value));
                return Ok(Some(field));
            }
        }
        Ok(None)
    }
}

impl<'de> de::MapAccess<'de> for Fields {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        self.advance()?.map(|field| seed.deserialize(field.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let (field, value) = self.pending.take().unwrap_or_default();
        seed.deserialize(Reader(value)).map_err(|misfit| misfit.under_key(field))
    }
}

/// The entries of an object or of a `Map`. In an object, what is undefined is as good as absent.
struct Entries {
    /// The object; for a `Map` the keys are pairs.
    object: Option<Any>,
    keys: Array,
    next: u32,
    pending: Option<(JsValue, JsValue)>,
}

impl Entries {
    #[inline(never)]
    fn advance(&mut self) -> Result<Option<JsValue>, Misfit> {
        while self.next < self.keys.length() {
            let key = self.keys.get(self.next);
            self.next += 1;
            let (key, value) = match &self.object {
                None => {
                    let pair = key.unchecked_into::<Array>();
                    (pair.get(0), pair.get(1))
                }
                Some(object) => {
                    let value = object.get(key.unchecked_ref());
                    let name = || key.as_string().unwrap_or_default();
                    let value = value.map_err(|thrown| Misfit::thrown(&thrown).under_key(&name()))?;
                    if value.is_undefined() {
                        continue;
                    }
                    (key, value)
                }
            };
            self.pending = Some((key.clone(), value));
            return Ok(Some(key));
        }
        Ok(None)
    }
}

impl<'de> de::MapAccess<'de> for Entries {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        self.advance()?.map(|key| seed.deserialize(Reader(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let (key, value) = self.pending.take().unwrap_or_default();
        let under = |misfit: Misfit| misfit.under_key(&key.as_string().unwrap_or_default());
        seed.deserialize(Reader(value)).map_err(under)
    }
}
