//! Broken or malicious XML: the errors, and their places.

use ctxweave::operators::{ParseOptions, parse_bytes, parse_task};
use ctxweave::{Code, Limits};

/// Name, template, reason, line, column.
type Case = (&'static str, &'static str, &'static str, u32, u32);

const CASES: &[Case] = &[
    // Document type declarations and entities.
    ("a dtd", "<!DOCTYPE task><task/>", "dtd", 1, 1),
    ("a dtd with a subset", "<!DOCTYPE task [<!ELEMENT task ANY>]>\n<task/>", "dtd", 1, 1),
    ("a dtd after a comment", "<!-- c -->\n <!DOCTYPE task><task/>", "dtd", 2, 2),
    ("an external dtd", "<!DOCTYPE task SYSTEM \"http://127.0.0.1/x.dtd\"><task/>", "dtd", 1, 1),
    (
        "a billion laughs",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>\n<task>&lol2;</task>",
        "dtd",
        2,
        1,
    ),
    ("an external entity", "<!DOCTYPE t [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><task>&x;</task>", "dtd", 1, 1),
    ("a dtd in lower case", "<!doctype task><task/>", "dtd", 1, 1),
    ("a dtd that never ends", "<!DOCTYPE task [", "dtd", 1, 1),
    ("a dtd inside the root", "<task><!DOCTYPE task></task>", "dtd", 1, 7),
    ("an entity declaration by itself", "<task><!ENTITY x \"y\"></task>", "syntax", 1, 7),
    ("an entity of html", "<task>\n<description>a&nbsp;b</description></task>", "entity", 2, 15),
    ("an unknown entity", "<task><description>&custom;</description></task>", "entity", 1, 20),
    ("an unknown entity in an attribute", "<task id=\"a&b;c\"/>", "entity", 1, 12),
    ("an entity in capitals", "<task><description>&AMP;</description></task>", "entity", 1, 20),
    ("an entity without a name", "<task><description>&;</description></task>", "entity", 1, 20),
    // References to characters.
    ("a reference to NUL", "<task><description>&#0;</description></task>", "reference", 1, 20),
    ("a reference to a control character", "<task><description>&#x1F;</description></task>", "reference", 1, 20),
    ("a reference to half a surrogate pair", "<task><description>&#xD800;</description></task>", "reference", 1, 20),
    ("a reference to U+FFFE", "<task><description>&#xFFFE;</description></task>", "reference", 1, 20),
    ("a reference beyond Unicode", "<task><description>&#x110000;</description></task>", "reference", 1, 20),
    (
        "a reference to a huge number",
        "<task><description>&#99999999999999999999;</description></task>",
        "reference",
        1,
        20,
    ),
    ("a reference without digits", "<task><description>&#;</description></task>", "reference", 1, 20),
    ("a hexadecimal reference without digits", "<task><description>&#x;</description></task>", "reference", 1, 20),
    ("a reference with a capital X", "<task><description>&#X41;</description></task>", "reference", 1, 20),
    ("a reference with a sign", "<task><description>&#+65;</description></task>", "reference", 1, 20),
    ("letters in a decimal reference", "<task><description>&#4A;</description></task>", "reference", 1, 20),
    ("a reference to a control character in an attribute", "<task id='&#8;'/>", "reference", 1, 11),
    ("an ampersand alone", "<task><description>salt & pepper</description></task>", "reference", 1, 25),
    ("an ampersand at the very end", "<task>&", "reference", 1, 7),
    ("a reference without its semicolon", "<task><description>&lt</description></task>", "reference", 1, 20),
    ("an ampersand alone in an attribute", "<task id=\"a & b\"/>", "reference", 1, 13),
    // Characters.
    ("a NUL", "<task>\u{0}</task>", "character", 1, 7),
    ("a control character", "<task>\n  a\u{1}</task>", "character", 2, 4),
    ("a vertical tab", "<task>\u{b}</task>", "character", 1, 7),
    ("U+FFFE", "<task>\u{FFFE}</task>", "character", 1, 7),
    ("U+FFFF after an emoji", "<task>😀\u{FFFF}</task>", "character", 1, 9),
    ("a control character in a comment", "<task><!-- \u{8} --></task>", "character", 1, 12),
    ("a control character in CDATA", "<task><![CDATA[\u{c}]]></task>", "character", 1, 16),
    // Attributes.
    ("an attribute twice", "<task type=\"atomic\" type=\"reduce\"/>", "duplicate_attribute", 1, 21),
    ("an attribute twice, in other words", "<task id='a' type=\"atomic\" id=\"b\"/>", "duplicate_attribute", 1, 28),
    ("an attribute twice, deep inside", "<task><x>\n<y a='' a=''/></x></task>", "duplicate_attribute", 2, 9),
    ("an attribute without a value", "<task type/>", "syntax", 1, 11),
    ("an attribute without a value, after =", "<task type=/>", "syntax", 1, 12),
    ("an attribute without quotes", "<task type=atomic/>", "syntax", 1, 12),
    ("an attribute whose quotes do not match", "<task type=\"atomic'/>", "unclosed", 1, 1),
    ("no white space between attributes", "<task id=\"a\"type=\"atomic\"/>", "syntax", 1, 13),
    ("< in an attribute", "<task id=\"a<b\"/>", "syntax", 1, 12),
    ("an attribute that begins with a digit", "<task 1d=\"a\"/>", "name", 1, 7),
    ("an attribute without a name", "<task =\"a\"/>", "syntax", 1, 11),
    // Tags.
    ("a mismatched end tag", "<task>\n  <steps>\n  </step>\n</task>", "mismatched_tag", 3, 3),
    ("end tags in the wrong order", "<task><a><b></a></b></task>", "mismatched_tag", 1, 13),
    ("an end tag in other case", "<task></Task>", "mismatched_tag", 1, 7),
    ("an end tag too many", "<task/></task>", "mismatched_tag", 1, 8),
    ("an end tag first", "</task>", "mismatched_tag", 1, 1),
    ("an end tag with an attribute", "<task></task id=\"a\">", "mismatched_tag", 1, 7),
    ("an end tag with white space first", "<task></ task>", "mismatched_tag", 1, 7),
    ("an end tag without a name", "<task></>", "mismatched_tag", 1, 7),
    ("an element that is never closed", "<task>\n <steps>\n</task>", "mismatched_tag", 3, 1),
    ("a root that is never closed", "<task>\n  <description>a</description>\n", "unclosed", 1, 1),
    ("an inner element left open at the end", "<task>\n  <steps>", "unclosed", 2, 3),
    ("a tag that is never closed", "<task><description", "unclosed", 1, 7),
    ("a text cut off in a tag", "<task type=\"seq", "unclosed", 1, 1),
    ("a lone <", "<task><description>a < b</description></task>", "name", 1, 22),
    ("< at the very end", "<task><", "unclosed", 1, 7),
    ("an empty tag", "<task><></></task>", "name", 1, 7),
    ("a tag that begins with white space", "< task/>", "name", 1, 1),
    ("a name that begins with a digit", "<task><1step/></task>", "name", 1, 7),
    ("a name with a forbidden character", "<task><st@ep/></task>", "name", 1, 7),
    // Comments, CDATA, processing instructions.
    ("-- in a comment", "<task><!-- a -- b --></task>", "comment", 1, 14),
    ("-- later in a comment", "<task><!-- a - b\n -- c --></task>", "comment", 2, 2),
    ("a comment that ends with --->", "<task><!-- a ---></task>", "comment", 1, 14),
    ("a comment that is never closed", "<task>\n<!-- a", "unclosed", 2, 1),
    ("a comment that begins like one", "<task><!-- a -></task>", "unclosed", 1, 7),
    ("]]> in text", "<task><description>a ]]> b</description></task>", "syntax", 1, 22),
    ("CDATA that is never closed", "<task><![CDATA[ a ]]</task>", "unclosed", 1, 7),
    ("CDATA in lower case", "<task><![cdata[ a ]]></task>", "syntax", 1, 7),
    ("CDATA outside the root", "<![CDATA[a]]><task/>", "structure", 1, 1),
    ("an unknown <!", "<task><!foo></task>", "syntax", 1, 7),
    ("an instruction that is never closed", "<task><?foo", "unclosed", 1, 7),
    ("an instruction without a name", "<task><? foo?></task>", "name", 1, 7),
    // The declaration.
    ("a declaration after white space", "\n<?xml version=\"1.0\"?><task/>", "declaration", 2, 1),
    ("a declaration inside the root", "<task><?xml version=\"1.0\"?></task>", "declaration", 1, 7),
    ("a declaration in capitals", "<?XML version=\"1.0\"?><task/>", "name", 1, 1),
    ("a declaration without a version", "<?xml encoding=\"UTF-8\"?><task/>", "declaration", 1, 1),
    ("an empty declaration", "<?xml ?><task/>", "declaration", 1, 1),
    ("a declaration of version 2", "<?xml version=\"2.0\"?><task/>", "declaration", 1, 1),
    (
        "a declaration in the wrong order",
        "<?xml version=\"1.0\" standalone=\"yes\" encoding=\"UTF-8\"?><task/>",
        "declaration",
        1,
        1,
    ),
    ("a declaration with something else", "<?xml version=\"1.0\" foo=\"bar\"?><task/>", "declaration", 1, 1),
    // The whole.
    ("nothing", "", "structure", 1, 1),
    ("white space", " \n ", "structure", 2, 2),
    ("a comment only", "<!-- task -->", "structure", 1, 14),
    ("text only", "task", "structure", 1, 1),
    ("JSON", "{\"task\": 1}", "structure", 1, 1),
    ("text before the root", "x<task/>", "structure", 1, 1),
    ("text after the root", "<task/>\n  x", "structure", 2, 3),
    ("a reference after the root", "<task/>&lt;", "structure", 1, 8),
    ("two roots", "<task/>\n<task/>", "structure", 2, 1),
    ("another root", "<template><task/></template>", "root", 1, 1),
    ("a root in another case", "<!-- x -->\r\n<Task/>", "root", 2, 1),
    // Places: every kind of line end, wide characters, a BOM.
    ("after CRLF", "<task>\r\n\r\n  <a></b></task>", "mismatched_tag", 3, 6),
    ("after CR", "<task>\r\r  <a></b></task>", "mismatched_tag", 3, 6),
    ("after characters of two units", "<task><!-- 😀😀 --><a></b></task>", "mismatched_tag", 1, 23),
    ("after a BOM", "\u{FEFF}<task></Task>", "mismatched_tag", 1, 7),
];

#[test]
fn broken_xml_is_refused_with_a_reason_and_a_place() {
    assert!(CASES.len() >= 60, "{}", CASES.len());
    let mut wrong = Vec::new();
    for (name, xml, reason, line, column) in CASES {
        let expected = format!("{reason} at {line}:{column}");
        let found = match parse_task(xml, &ParseOptions::default()) {
            Ok(parsed) => format!("nothing: {parsed:?}"),
            Err(error) => {
                assert_eq!(error.code(), Code::InvalidXml, "{name}: {error}");
                let details = error.details();
                let place = format!("(line {}, column {})", details["line"], details["column"]);
                assert!(error.message().ends_with(&place), "{name}: {error}");
                format!("{} at {}:{}", details["reason"].as_str().unwrap(), details["line"], details["column"])
            }
        };
        if found != expected {
            wrong.push(format!("{name}: expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let utf16: Vec<u8> = "\u{FEFF}<task/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, &[u8], u64, u64); 6] = [
        ("Latin-1", b"<task>\n<description>caf\xe9</description></task>", 2, 17),
        ("a cut-off character", b"<task>\xe2\x82", 1, 7),
        ("an overlong character", b"<task>\xc0\xaf</task>", 1, 7),
        ("UTF-16", &utf16, 1, 1),
        ("another encoding", b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><task/>", 1, 1),
        ("an encoding in single quotes", b"<?xml version='1.0' encoding = 'utf-16'?><task/>", 1, 1),
    ];
    for (name, bytes, line, column) in cases {
        let error = parse_bytes(bytes, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidXml, "{name}");
        assert_eq!(error.details()["reason"], "encoding", "{name}");
        assert_eq!((&error.details()["line"], &error.details()["column"]), (&line.into(), &column.into()), "{name}");
    }
    for said in ["UTF-8", "utf-8", "US-ASCII"] {
        let xml = format!("\u{FEFF}<?xml version=\"1.0\" encoding=\"{said}\"?><task/>");
        parse_bytes(xml.as_bytes(), &ParseOptions::default()).unwrap();
    }
    // A string has no encoding any more, whatever it declares.
    parse_task("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><task/>", &ParseOptions::default()).unwrap();
}

#[test]
fn well_formed_input_is_accepted() {
    let fine = [
        "<task/>",
        "<task></task >",
        "<task\n\ttype = 'atomic'\r\n/>",
        "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<!-- a --><?pi b?>\n<task/><!-- c --><?pi?>\n",
        "<task><description>&lt;&gt;&amp;&apos;&quot;&#65;&#x42;&#x10FFFF;</description></task>",
        "<task><description><![CDATA[<b> & ]] > </b>]]></description></task>",
        "<task><description>]] ></description></task>",
        "<task><!----><!-- - --></task>",
        "<task><ns:élan xml:lang='de' 名='x'/></task>",
        "<task a='&#10;&lt;' b=\"'\" c='\"'/>",
        "<task><description>\u{85}\u{2028}\t</description></task>",
        "<?xml version=\"1.1\"?><task/>",
        "<task a='>'/>",
    ];
    for xml in fine {
        parse_task(xml, &ParseOptions::default()).unwrap_or_else(|error| panic!("{xml}: {error}"));
    }
    let task = parse_task("<task><description>&lt;&#65;<![CDATA[&]]></description></task>", &ParseOptions::default());
    assert_eq!(task.unwrap().task.operator.description.as_deref(), Some("<A&"));
}

#[test]
fn limits_hold_and_say_where() {
    let limits = Limits { xml_bytes: 200, xml_depth: 3, xml_elements: 5, xml_attributes: 2, ..Limits::default() };
    let options = ParseOptions { limits, ..ParseOptions::default() };
    let refused = |xml: &str| {
        let error = parse_task(xml, &options).unwrap_err();
        assert_eq!(error.code(), Code::LimitExceeded, "{error}");
        let details = error.details().clone();
        (details["limit"].as_str().unwrap().to_owned(), details["value"].clone(), details.get("column").cloned())
    };
    let spaces = format!("<task>{}</task>", " ".repeat(200));
    assert_eq!(refused(&spaces), ("xmlBytes".to_owned(), 213.into(), None));
    assert_eq!(refused("<task><a><b><c/></b></a></task>"), ("xmlDepth".to_owned(), 4.into(), Some(13.into())));
    assert_eq!(refused("<task><a/><a/><a/><a/><a/></task>"), ("xmlElements".to_owned(), 6.into(), Some(23.into())));
    assert_eq!(refused("<task a='' b='' c=''/>"), ("xmlAttributes".to_owned(), 3.into(), Some(17.into())));
    for fits in ["<task><a><b/></a></task>", "<task><a/><a/><a/><a/></task>", "<task a='' b=''/>"] {
        parse_task(fits, &options).unwrap();
    }
    let deep = |depth: usize| format!("<task>{}{}</task>", "<a>".repeat(depth), "</a>".repeat(depth));
    parse_task(&deep(63), &ParseOptions::default()).unwrap();
    assert_eq!(parse_task(&deep(64), &ParseOptions::default()).unwrap_err().details()["limit"], "xmlDepth");
}

#[test]
#[expect(clippy::disallowed_types, reason = "a test may look at the clock")]
fn a_megabyte_of_anything_takes_no_time() {
    for text in
        ["<", ">", "&", "a", " ", "]", "]]>", "<a>", "<!", "<!--", "<![CDATA[", "<task ", "\"", "&#x", "一", "<?", "</"]
    {
        let body = text.repeat(1_000_000 / text.len());
        for xml in [body.clone(), format!("<task>{body}"), format!("<task a=\"{body}"), format!("<task {body}/>")] {
            let _ = parse_task(&xml, &ParseOptions::default());
        }
    }
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=''")).collect();
    assert!(parse_task(&format!("<task{attributes}/>"), &ParseOptions::default()).is_err());
    // One long line: the column of each element is found in one pass.
    let steps = "<task type=\"atomic\"/>".repeat(50_000);
    let started = std::time::Instant::now();
    let parsed =
        parse_task(&format!("<task type='sequential'><steps>{steps}</steps></task>"), &ParseOptions::default());
    assert_eq!(parsed.unwrap().task.steps.unwrap().len(), 50_000);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
