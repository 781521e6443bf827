//! How one agent finds, scopes and places its files: data, which a caller can extend.

use crate::error::{Code, Error, Result};
use crate::json::{Document, Object, Value, quoted};
use crate::maps::SortedMap;

/// The presets as JSON.
pub(super) const PRESETS: &str = include_str!("presets.json");

/// Where the walk from the working folder ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Top {
    /// At the nearest folder with a marker; without one, at the working folder.
    #[default]
    Marker,
    /// As `Marker`, but the marker has to be a folder: a worktree or a submodule, whose `.git` is a file, does not end it.
    MarkerFolder,
    /// At the root of the disk.
    Disk,
}

/// The folders of a source, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum At {
    Managed,
    Home,
    #[default]
    Cwd,
    Root,
    /// From the top down to the working folder.
    Down,
    /// From the working folder up to the top.
    Up,
    /// The top, the working folder, then those between them, the nearest first.
    Edges,
    /// From below the working folder down to the folder of the accessed path.
    Below,
    /// From the top down to the folder of the accessed path.
    Touched,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Take {
    #[default]
    All,
    /// The first that exists, per folder.
    First,
    /// The first that is not blank, per folder.
    FirstNonBlank,
    /// The first name that any folder has, in every folder.
    FirstName,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Load {
    /// Rules that always apply.
    #[default]
    Always,
    /// Rules that match the accessed path.
    Matching,
    Both,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    None,
    Path,
    Title,
    /// By the order of the preset's names, then of the folders.
    Name,
}

/// The dialect of patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dialect {
    Gitignore,
    #[default]
    Picomatch,
    /// Names without a slash match at any depth, and nothing is anchored.
    Copilot,
}

/// The folder that patterns are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// The folder that holds the folder of rules; at home, the working folder.
    Holder,
    Cwd,
    #[default]
    Root,
}

/// What one item of a source loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Names(Vec<String>),
    Rules(String),
    Skills(String),
    /// A JSON file whose `instructions` list files and globs.
    Config(String),
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub what: ItemKind,
    pub take: Take,
    pub load: Load,
    pub trim: bool,
    pub title: Option<String>,
    pub unless: Vec<String>,
    pub unless_anywhere: bool,
    /// Skips a file whose trimmed text was loaded.
    pub same_text: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Source {
    pub at: At,
    pub placement: Placement,
    pub trusted: bool,
    pub sort: Sort,
    pub items: Vec<Item>,
}

/// Where the agent puts a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Placement {
    /// The system instruction.
    System,
    /// The first user message.
    #[default]
    User,
    /// The result of the tool that accessed the path.
    Tool,
    /// A message of its own.
    Message,
}

impl Placement {
    pub(super) const NAMES: &[(&str, Self)] =
        &[("system", Self::System), ("user", Self::User), ("tool", Self::Tool), ("message", Self::Message)];

    pub(super) fn name(self) -> &'static str {
        name_of(Self::NAMES, self)
    }
}

/// The name of a value in a table.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// What a folder of rules means to an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleFolder {
    /// The key of the patterns; without one, every rule always applies.
    pub paths: Option<String>,
    pub always: Option<String>,
    /// The key of the description by which the model decides.
    pub request: Option<String>,
    /// The key that names the mode.
    pub inclusion: Option<Inclusion>,
    pub dialect: Dialect,
    pub base: Base,
    pub ends: Vec<String>,
    pub skip: Vec<String>,
    /// Front matter of lines `key: value`, which is no YAML.
    pub by_line: bool,
    /// Quotes values of invalid YAML and reads it again.
    pub retry: bool,
    pub manual_without: bool,
    /// An empty list of patterns matches nothing; otherwise the rule always applies.
    pub empty_never: bool,
    pub keep_front_matter: bool,
    /// Rules in subfolders are not read.
    pub flat: bool,
    /// Patterns are one text with commas, not a list.
    pub joined: bool,
    /// A text is one pattern: commas do not separate.
    pub one_pattern: bool,
    /// Characters of one rule that the agent reads.
    pub max_chars: Option<usize>,
}

/// A key whose value is the mode of a rule; without the key a rule always applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inclusion {
    pub key: String,
    pub always: String,
    pub matching: String,
    pub request: String,
    pub manual: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Each file once in the whole context.
    #[default]
    Never,
    /// Again, unless the file is on the same chain.
    Branch,
    /// Once per root file; a text marks the repetition.
    Marked,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Imports {
    pub skip_spans: bool,
    pub skip_fences: bool,
    pub skip_tildes: bool,
    pub skip_indented: bool,
    pub skip_comments: bool,
    pub drop_comments: bool,
    pub drop_front_matter: bool,
    /// Emphasis marks count as the boundary of a path.
    pub emphasis: bool,
    /// `\ ` is a space.
    pub escapes: bool,
    pub cut: Option<char>,
    /// Characters that may stand before `@`, besides white space.
    pub open: String,
    /// Characters removed from the end of a path.
    pub trim: String,
    /// Characters that a path may begin with, besides letters.
    pub first: String,
    pub digits: bool,
    pub home: bool,
    pub absolute: bool,
    pub parent: bool,
    pub text_only: bool,
    /// A path has a `/` or ends in `.md`.
    pub path_like: bool,
    pub depth: Option<usize>,
    pub repeat: Repeat,
    pub inline: bool,
    /// Imports stay in the working folder or in the root; `None` for no boundary.
    pub boundary: Option<Base>,
    /// The names of root files whose imports are expanded; empty for all.
    pub files: Vec<String>,
    pub before: String,
    pub after: String,
    pub failed: Option<String>,
    pub outside: Option<String>,
    pub cyclic: Option<String>,
    pub repeated: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wrapper {
    pub open: String,
    pub before: String,
    pub after: String,
    pub join: String,
    pub scope_join: Option<String>,
    pub close: String,
}

#[derive(Clone, Debug)]
pub(super) struct Preset {
    pub name: String,
    pub version: String,
    pub verified: bool,
    pub top: Top,
    pub with_disk_root: bool,
    pub markers: Vec<String>,
    pub managed: Option<String>,
    pub max_file_bytes: Option<usize>,
    /// Bytes of all project files together; the file that crosses it is cut at the byte.
    pub cap_bytes: Option<usize>,
    /// Lines and characters of one file that the agent's documentation advises against exceeding.
    pub advised_lines: Option<usize>,
    pub advised_chars: Option<usize>,
    /// A file whose text names another file is a link that was checked out as text: it loads nothing.
    pub link_text: bool,
    pub start: Vec<Source>,
    pub access: Vec<Source>,
    pub verbs: Vec<String>,
    pub rules: SortedMap<String, RuleFolder>,
    pub imports: Option<Imports>,
    pub wrapper: Wrapper,
}

/// The fields of a preset. `each` of an item stands for `names`.
const FIELDS: &[&str] = &[
    "name",
    "version",
    "date",
    "verified",
    "variants",
    "top",
    "withDiskRoot",
    "markers",
    "managed",
    "maxFileBytes",
    "capBytes",
    "advisedLines",
    "advisedChars",
    "linkText",
    "names",
    "start",
    "access",
    "verbs",
    "rules",
    "imports",
    "flatImports",
    "wrapper",
];

/// Fields of the caller's extension, then those of the preset.
#[derive(Clone, Copy)]
struct Layers<'t> {
    extension: Option<Object<'t>>,
    preset: Object<'t>,
}

impl<'t> Layers<'t> {
    fn get(self, name: &str) -> Result<Option<Value<'t>>> {
        match self.extension.map(|extension| extension.get(name)).transpose()?.flatten() {
            Some(value) => Ok(Some(value)),
            None => self.preset.get(name),
        }
    }

    fn read<T>(self, name: &str, read: impl FnOnce(Value<'t>) -> Result<T>) -> Result<Option<T>> {
        self.get(name)?.map(read).transpose()
    }
}

/// Reads the preset of this name, `claude-code` or `claude-code@2.1.332`, with the caller's extension.
pub(super) fn read(agent: &str, variant: Option<&str>, extension: Option<Object<'_>>) -> Result<Preset> {
    let document = Document::read(PRESETS.as_bytes(), &[])?;
    let mut names = Vec::new();
    for value in document.root().list("presets")? {
        let preset = value.object("a preset")?;
        let (name, version) = (preset.text("name")?.into_owned(), preset.text("version")?);
        if agent == name || agent.split_once('@') == Some((&name, &version)) {
            if let Some(extension) = extension {
                extension.only(FIELDS)?;
            }
            return read_preset(Layers { extension, preset }, variant);
        }
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!("unknown agent `{agent}`; use one of {}", quoted(&names));
    Err(Error::new(Code::UnknownValue, message).with("value", agent).with("expected", names))
}

/// Every preset, without a caller's extension.
pub(super) fn all() -> Result<Vec<Preset>> {
    let document = Document::read(PRESETS.as_bytes(), &[])?;
    document.root().list("presets")?.read(|value| {
        let preset = value.object("a preset")?;
        read_preset(Layers { extension: None, preset }, None)
    })
}

const TOPS: &[(&str, Top)] = &[("marker", Top::Marker), ("markerFolder", Top::MarkerFolder), ("disk", Top::Disk)];

fn read_preset(of: Layers<'_>, variant: Option<&str>) -> Result<Preset> {
    let variants = of.read("variants", Value::strings)?.unwrap_or_default();
    if let Some(variant) = variant.filter(|variant| !variants.iter().any(|known| known == variant)) {
        let names: Vec<&str> = variants.iter().map(String::as_str).collect();
        let expected = if names.is_empty() { "omit it".to_owned() } else { format!("use one of {}", quoted(&names)) };
        let message = format!("unknown variant `{variant}`; {expected}");
        return Err(Error::new(Code::UnknownValue, message).with("value", variant).with("expected", names));
    }
    let variant = variant.or(variants.first().map(String::as_str)).unwrap_or_default();
    let names = of.read("names", Value::strings)?.unwrap_or_default();
    let sources = |value: Value<'_>| -> Result<Vec<Source>> {
        let all = value.list("a list of sources")?.read(|source| read_source(source, variant, &names))?;
        Ok(all.into_iter().flatten().collect())
    };
    let imports = if variant == "flat" { "flatImports" } else { "imports" };
    Ok(Preset {
        name: of.read("name", Value::string)?.unwrap_or_default(),
        version: of.read("version", Value::string)?.unwrap_or_default(),
        // A preset that was changed is not the one that was run.
        verified: of.extension.is_none() && of.read("verified", Value::bool)?.unwrap_or(false),
        top: of.read("top", |value| value.one_of(TOPS))?.unwrap_or_default(),
        with_disk_root: of.read("withDiskRoot", Value::bool)?.unwrap_or(false),
        markers: of.read("markers", Value::strings)?.unwrap_or_else(|| vec![".git".to_owned()]),
        managed: of.read("managed", Value::string)?,
        max_file_bytes: of.read("maxFileBytes", bytes)?,
        cap_bytes: of.read("capBytes", bytes)?,
        advised_lines: of.read("advisedLines", bytes)?,
        advised_chars: of.read("advisedChars", bytes)?,
        link_text: of.read("linkText", Value::bool)?.unwrap_or(false),
        start: of.read("start", sources)?.unwrap_or_default(),
        access: of.read("access", sources)?.unwrap_or_default(),
        verbs: of.read("verbs", Value::strings)?.unwrap_or_default(),
        rules: of
            .read("rules", |rules| rules.object("folders of rules")?.map(read_rules))?
            .unwrap_or_else(SortedMap::new),
        imports: of.read(imports, read_imports)?,
        wrapper: of.read("wrapper", read_wrapper)?.unwrap_or_default(),
    })
}

fn bytes(value: Value<'_>) -> Result<usize> {
    Ok(value.whole(u32::MAX)? as usize)
}

const ATS: &[(&str, At)] = &[
    ("managed", At::Managed),
    ("home", At::Home),
    ("cwd", At::Cwd),
    ("root", At::Root),
    ("down", At::Down),
    ("up", At::Up),
    ("edges", At::Edges),
    ("below", At::Below),
    ("touched", At::Touched),
];
const TAKES: &[(&str, Take)] = &[
    ("all", Take::All),
    ("first", Take::First),
    ("firstNonBlank", Take::FirstNonBlank),
    ("firstName", Take::FirstName),
];
const LOADS: &[(&str, Load)] = &[("always", Load::Always), ("matching", Load::Matching), ("both", Load::Both)];
const SORTS: &[(&str, Sort)] =
    &[("none", Sort::None), ("path", Sort::Path), ("title", Sort::Title), ("name", Sort::Name)];
pub(super) const DIALECTS: &[(&str, Dialect)] =
    &[("gitignore", Dialect::Gitignore), ("picomatch", Dialect::Picomatch), ("copilot", Dialect::Copilot)];
const BASES: &[(&str, Base)] = &[("holder", Base::Holder), ("cwd", Base::Cwd), ("root", Base::Root)];
const REPEATS: &[(&str, Repeat)] = &[("never", Repeat::Never), ("branch", Repeat::Branch), ("marked", Repeat::Marked)];

/// Whether a part of the preset belongs to a variant.
fn belongs(of: Object<'_>, variant: &str) -> Result<bool> {
    let has = |names: Vec<String>| names.iter().any(|name| name == variant);
    let only = of.read("variants", Value::strings)?.is_none_or(has);
    Ok(only && !of.read("not", Value::strings)?.is_some_and(has))
}

fn read_source(value: Value<'_>, variant: &str, names: &[String]) -> Result<Option<Source>> {
    let of = value.object("a source, an object with `at` and `items`")?;
    of.only(&["at", "placement", "trusted", "sort", "variants", "not", "items"])?;
    let items = of.need("items")?.list("a list of items")?.read(|item| read_item(item, variant, names))?;
    let source = Source {
        at: of.need("at")?.one_of(ATS)?,
        placement: of.one_of("placement", Placement::NAMES)?.unwrap_or_default(),
        trusted: of.bool("trusted")?.unwrap_or(false),
        sort: of.one_of("sort", SORTS)?.unwrap_or_default(),
        items: items.into_iter().flatten().collect(),
    };
    Ok(belongs(of, variant)?.then_some(source))
}

fn read_item(value: Value<'_>, variant: &str, names: &[String]) -> Result<Option<Item>> {
    let of = value.object("an item, an object")?;
    of.only(&[
        "names",
        "each",
        "rules",
        "skills",
        "config",
        "take",
        "load",
        "trim",
        "title",
        "variants",
        "not",
        "unless",
        "unlessAnywhere",
        "sameText",
    ])?;
    let what = if let Some(names) = of.read("names", Value::strings)? {
        ItemKind::Names(names)
    } else if let Some(prefix) = of.string("each")? {
        ItemKind::Names(names.iter().map(|name| format!("{prefix}{name}")).collect())
    } else if let Some(folder) = of.string("rules")? {
        ItemKind::Rules(folder)
    } else if let Some(folder) = of.string("skills")? {
        ItemKind::Skills(folder)
    } else {
        ItemKind::Config(of.need("config")?.string()?)
    };
    let item = Item {
        what,
        take: of.one_of("take", TAKES)?.unwrap_or_default(),
        load: of.one_of("load", LOADS)?.unwrap_or_default(),
        trim: of.bool("trim")?.unwrap_or(false),
        title: of.string("title")?,
        unless: of.read("unless", Value::strings)?.unwrap_or_default(),
        unless_anywhere: of.bool("unlessAnywhere")?.unwrap_or(false),
        same_text: of.bool("sameText")?.unwrap_or(false),
    };
    Ok(belongs(of, variant)?.then_some(item))
}

fn read_rules(value: Value<'_>) -> Result<RuleFolder> {
    let of = value.object("a folder of rules, an object")?;
    of.only(&[
        "paths",
        "always",
        "request",
        "inclusion",
        "without",
        "dialect",
        "base",
        "ends",
        "skip",
        "byLine",
        "retry",
        "emptyNever",
        "keepFrontMatter",
        "flat",
        "joined",
        "onePattern",
        "maxChars",
    ])?;
    Ok(RuleFolder {
        paths: of.string("paths")?,
        always: of.string("always")?,
        request: of.string("request")?,
        inclusion: of.read("inclusion", read_inclusion)?,
        manual_without: of.one_of("without", &[("always", false), ("manual", true)])?.unwrap_or(false),
        dialect: of.one_of("dialect", DIALECTS)?.unwrap_or_default(),
        base: of.one_of("base", BASES)?.unwrap_or_default(),
        ends: of.read("ends", Value::strings)?.unwrap_or_else(|| vec![".md".to_owned()]),
        skip: of.read("skip", Value::strings)?.unwrap_or_default(),
        by_line: of.bool("byLine")?.unwrap_or(false),
        retry: of.bool("retry")?.unwrap_or(false),
        empty_never: of.bool("emptyNever")?.unwrap_or(false),
        keep_front_matter: of.bool("keepFrontMatter")?.unwrap_or(false),
        flat: of.bool("flat")?.unwrap_or(false),
        joined: of.bool("joined")?.unwrap_or(false),
        one_pattern: of.bool("onePattern")?.unwrap_or(false),
        max_chars: of.read("maxChars", bytes)?,
    })
}

fn read_inclusion(value: Value<'_>) -> Result<Inclusion> {
    let of = value.object("the key of the mode and its values, an object")?;
    of.only(&["key", "always", "matching", "request", "manual"])?;
    let text = |name: &str| of.need(name)?.string();
    Ok(Inclusion {
        key: text("key")?,
        always: text("always")?,
        matching: text("matching")?,
        request: text("request")?,
        manual: text("manual")?,
    })
}

fn read_imports(value: Value<'_>) -> Result<Imports> {
    let of = value.object("settings of imports, an object")?;
    of.only(&[
        "skip",
        "dropComments",
        "dropFrontMatter",
        "emphasis",
        "escapes",
        "cut",
        "open",
        "trim",
        "first",
        "digits",
        "home",
        "absolute",
        "parent",
        "textOnly",
        "pathLike",
        "depth",
        "repeat",
        "place",
        "boundary",
        "files",
        "before",
        "after",
        "failed",
        "outside",
        "cyclic",
        "repeated",
    ])?;
    let skip = of.read("skip", Value::strings)?.unwrap_or_default();
    let skips = |name: &str| skip.iter().any(|known| known == name);
    let flag = |name: &str| of.bool(name).map(|value| value.unwrap_or(false));
    let text = |name: &str| of.string(name).map(Option::unwrap_or_default);
    let failed = of.string("failed")?;
    Ok(Imports {
        skip_spans: skips("spans"),
        skip_fences: skips("fences"),
        skip_tildes: skips("tildes"),
        skip_indented: skips("indented"),
        skip_comments: skips("comments"),
        drop_comments: flag("dropComments")?,
        drop_front_matter: flag("dropFrontMatter")?,
        emphasis: flag("emphasis")?,
        escapes: flag("escapes")?,
        cut: of.string("cut")?.and_then(|cut| cut.chars().next()),
        open: text("open")?,
        trim: text("trim")?,
        first: text("first")?,
        digits: flag("digits")?,
        home: flag("home")?,
        absolute: flag("absolute")?,
        parent: flag("parent")?,
        text_only: flag("textOnly")?,
        path_like: flag("pathLike")?,
        depth: of.read("depth", bytes)?,
        repeat: of.one_of("repeat", REPEATS)?.unwrap_or_default(),
        inline: of.one_of("place", &[("after", false), ("inline", true)])?.unwrap_or(false),
        boundary: of.one_of("boundary", BASES)?,
        files: of.read("files", Value::strings)?.unwrap_or_default(),
        before: text("before")?,
        after: text("after")?,
        outside: of.string("outside")?.or_else(|| failed.clone()),
        failed,
        cyclic: of.string("cyclic")?,
        repeated: of.string("repeated")?,
    })
}

fn read_wrapper(value: Value<'_>) -> Result<Wrapper> {
    let of = value.object("a wrapper, an object")?;
    of.only(&["open", "before", "after", "join", "scopeJoin", "close"])?;
    let text = |name: &str| of.string(name).map(Option::unwrap_or_default);
    Ok(Wrapper {
        open: text("open")?,
        before: text("before")?,
        after: text("after")?,
        join: text("join")?,
        scope_join: of.string("scopeJoin")?,
        close: text("close")?,
    })
}
