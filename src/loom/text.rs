//! Texts that stay where they were read.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

/// A text of its own, or one that is borrowed from what it was read from, where it stands there as it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'t>(Cow<'t, str>);

impl Text<'_> {
    /// The empty text.
    pub const EMPTY: Text<'static> = Text(Cow::Borrowed(""));

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, with nothing borrowed.
    pub fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'t> From<&'t str> for Text<'t> {
    fn from(text: &'t str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl From<Text<'_>> for String {
    fn from(text: Text<'_>) -> Self {
        text.0.into_owned()
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Text<'_> {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl<'de: 't, 't> Deserialize<'de> for Text<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;

        impl<'de> Visitor<'de> for AnyText {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(text.into())
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(text.to_owned().into())
            }

            fn visit_string<E>(self, text: String) -> Result<Text<'de>, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_string(AnyText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_there_as_it_is_stays_there() {
        let read = |json: &'static str| serde_json::from_str::<Text<'static>>(json);
        assert!(matches!(read("\"häß\"").unwrap().0, Cow::Borrowed("häß")));
        let escaped = read("\"a\\n\"").unwrap();
        assert!(matches!(&escaped.0, Cow::Owned(text) if text == "a\n"));
        assert_eq!(read("5").unwrap_err().to_string(), serde_json::from_str::<String>("5").unwrap_err().to_string());
        assert!(matches!(Text::from("a").into_owned().0, Cow::Owned(_)));
    }
}
