//! One test for each rule of docs/operators.md about templates; the rules of assembly are in `assembly`, of runs in
//! `runs`, of writing in `writing`, of XML in `hostile`.

use ctxweave::Severity;
use ctxweave::operators::{ContextManagement, Kind, Operator, OperatorRole, ParseOptions, explain};

use super::{clean, found, parse, parse_with, settings};

const STRICT: fn() -> ParseOptions = || ParseOptions { strict: true, ..ParseOptions::default() };
const EXCLUSIVE: fn() -> ParseOptions = || ParseOptions { exclusive: true, ..ParseOptions::default() };

/// A task with a block.
fn with_block(kind: &str, block: &str) -> String {
    format!("<task type=\"{kind}\"><context_management>{block}</context_management></task>")
}

// Parse `<task type="atomic|sequential|reduce">`, nested steps, `inner_task` and `reduction_task`, at any depth.
#[test]
fn tasks_are_read_at_any_depth() {
    let task = clean(
        "<task type='sequential' id='root'>
           <description> Do &amp; <b>more</b> </description>
           <steps>
             <task type='reduce' id='r'>
               <inner_task type='sequential'><steps><task type='atomic' id='deep'/></steps></inner_task>
               <reduction_task><task type='reduce'><inner_task/><reduction_task/></task></reduction_task>
             </task>
             <task type='atomic'/>
           </steps>
         </task>",
    );
    assert_eq!(task.operator.description.as_deref(), Some("Do & more"));
    assert_eq!((task.operator.id.as_deref(), task.operator.role), (Some("root"), OperatorRole::Task));
    let steps = task.steps.as_ref().unwrap();
    assert_eq!(steps.iter().map(|step| step.operator.kind.as_str()).collect::<Vec<_>>(), ["reduce", "atomic"]);
    let inner = steps[0].inner_task.as_ref().unwrap();
    assert_eq!((inner.operator.kind.clone(), inner.operator.role), (Kind::Sequential, OperatorRole::InnerTask));
    assert_eq!(inner.steps.as_ref().unwrap()[0].operator.id.as_deref(), Some("deep"));
    let reduction = steps[0].reduction_task.as_ref().unwrap();
    assert_eq!((reduction.operator.kind.clone(), reduction.operator.role), (Kind::Atomic, OperatorRole::ReductionTask));
    assert_eq!(reduction.task.as_ref().unwrap().operator.kind, Kind::Reduce);
    assert!(reduction.task.as_ref().unwrap().inner_task.is_some());
    let paths: Vec<String> = explain(&task).into_iter().map(|it| it.path).collect();
    assert_eq!(
        paths,
        [
            "task",
            "task.steps[0]",
            "task.steps[0].innerTask",
            "task.steps[0].innerTask.steps[0]",
            "task.steps[0].reductionTask",
            "task.steps[0].reductionTask.task",
            "task.steps[0].reductionTask.task.innerTask",
            "task.steps[0].reductionTask.task.reductionTask",
            "task.steps[1]",
        ]
    );

    let levels = 30;
    let open = "<task type='sequential'><steps>".repeat(levels);
    let close = "</steps></task>".repeat(levels);
    let mut task = &clean(&format!("{open}<task type='atomic'/>{close}"));
    for _ in 0..levels {
        task = &task.steps.as_ref().unwrap()[0];
    }
    assert_eq!(task.operator.kind, Kind::Atomic);
}

// Unknown elements are kept and ignored.
#[test]
fn unknown_elements_are_kept() {
    let xml = "<task type='atomic'>\n  <inputs><!-- a --><input name=\"x\">1</input></inputs>\n  <provider/>\n</task>";
    let task = clean(xml);
    let kept: Vec<_> = task.elements.iter().map(|it| (it.name.as_str(), it.xml.as_str(), it.line, it.column)).collect();
    assert_eq!(
        kept,
        [("inputs", "<inputs><!-- a --><input name=\"x\">1</input></inputs>", 2, 3), ("provider", "<provider/>", 3, 3)]
    );
    // A task in an element that is not known is not a task of this template.
    let task = clean("<task type='sequential'><branches><task type='x'/></branches></task>");
    assert_eq!(task.steps, Some(vec![]));
    let parsed = parse(
        "<task type='atomic'>\n<context_management><inherit_context>full</inherit_context><frsh_context>x</frsh_context></context_management></task>",
    );
    assert_eq!(found(&parsed), ["unknown_setting warning 2:60"]);
}

// A task without a type is atomic (`info`); an unknown type is kept, with a warning and no defaults.
#[test]
fn types_that_are_missing_or_not_known() {
    let parsed = parse("\n <task/>");
    assert_eq!(found(&parsed), ["type_missing info 2:2"]);
    assert_eq!(settings(&parsed.task.operator), "full* - - enabled*");
    assert_eq!(parsed.task.operator.origins.kind.unwrap().as_str(), "default");

    let parsed = parse("<task type='map'><steps><task type='atomic'/></steps></task>");
    assert_eq!(found(&parsed), ["unknown_type warning 1:7"]);
    assert_eq!(parsed.task.operator.kind.as_str(), "map");
    assert_eq!(settings(&parsed.task.operator), "- - - -");
    assert_eq!(parsed.task.steps.unwrap().len(), 1);
    let said = with_block(
        "map",
        "<accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format>",
    );
    let parsed = parse(&said);
    assert_eq!(found(&parsed), ["unknown_type warning 1:7"]);
    assert_eq!(settings(&parsed.task.operator), "- true full_output -");
    assert_eq!(found(&parse("<task type='Atomic'/>")), ["unknown_type warning 1:7"]);
    // An inner or reduction task need not say that it is atomic.
    clean("<task type='reduce'><inner_task/><reduction_task/></task>");
}

// Every diagnostic has line and column. (`found` requires them in every test here.)
#[test]
fn diagnostics_say_where() {
    let xml = "<task type=\"sequential\">\r\n  <!-- 😀 --><context_management>\r\n    <inherit_context>some</inherit_context>\r\n  </context_management>\r\n</task>";
    assert_eq!(found(&parse(xml)), ["missing_field warning 2:14", "invalid_value error 3:22"]);
}

// Defaults by operator as in the table of docs/operators.md, applied field by field.
#[test]
fn the_table_of_defaults() {
    let reduce = clean("<task type='reduce'><inner_task/><reduction_task/></task>");
    let rows = [
        ("atomic", clean("<task type='atomic'/>").operator, "full* - - enabled*"),
        ("sequential", clean("<task type='sequential'/>").operator, "full* true* notes_only* enabled*"),
        ("reduce", reduce.operator.clone(), "full* - - enabled*"),
        ("reduce.inner_task", reduce.inner_task.unwrap().operator, "full* - - disabled*"),
        ("reduce.reduction_task", reduce.reduction_task.unwrap().operator, "full* - - enabled*"),
    ];
    for (name, operator, expected) in rows {
        assert_eq!(settings(&operator), expected, "{name}");
        assert_eq!(operator.context_management, ContextManagement::defaults(&operator.kind, operator.role), "{name}");
    }
    // Field by field: what a block does not say is as if there were no block.
    let partial = [
        ("<inherit_context>none</inherit_context>", "none true* notes_only* enabled*"),
        ("<accumulate_data>false</accumulate_data>", "full* false notes_only* enabled*"),
        ("<accumulation_format>full_output</accumulation_format>", "full* true* full_output enabled*"),
        ("<fresh_context>disabled</fresh_context>", "full* true* notes_only* disabled"),
        ("", "full* true* notes_only* enabled*"),
    ];
    for (block, expected) in partial {
        assert_eq!(settings(&parse(&with_block("sequential", block)).task.operator), expected, "{block}");
    }
    // An inner task that is sequential accumulates, and still gets nothing fresh.
    let inner = clean("<task type='reduce'><inner_task type='sequential'/><reduction_task/></task>").inner_task;
    assert_eq!(settings(&inner.unwrap().operator), "full* true* notes_only* disabled*");
}

// Each effective value has its origin (`explicit`, `default`). All combinations, against a second model that is as
// simple as possible.
#[test]
fn every_combination_follows_the_table() {
    let operators = [
        ("atomic", "<task type='atomic'>{}</task>"),
        ("sequential", "<task type='sequential'>{}</task>"),
        ("reduce", "<task type='reduce'>{}<inner_task/><reduction_task/></task>"),
        ("inner_task", "<task type='reduce'><inner_task>{}</inner_task><reduction_task/></task>"),
        ("reduction_task", "<task type='reduce'><inner_task/><reduction_task>{}</reduction_task></task>"),
    ];
    let mut seen = 0;
    for (operator, template) in operators {
        for inherit in [None, Some("full"), Some("none"), Some("subset")] {
            for accumulate in [None, Some("true"), Some("false")] {
                for format in [None, Some("notes_only"), Some("full_output")] {
                    for fresh in [None, Some("enabled"), Some("disabled")] {
                        let element = |name: &str, value: Option<&str>| {
                            value.map(|value| format!("<{name}>{value}</{name}>")).unwrap_or_default()
                        };
                        let block = [
                            element("inherit_context", inherit),
                            element("accumulate_data", accumulate),
                            element("accumulation_format", format),
                            element("fresh_context", fresh),
                        ];
                        let block = format!("<context_management>{}</context_management>", block.concat());
                        let parsed = parse(&template.replace("{}", &block));
                        let task = match operator {
                            "inner_task" => parsed.task.inner_task.as_ref().unwrap(),
                            "reduction_task" => parsed.task.reduction_task.as_ref().unwrap(),
                            _ => &parsed.task,
                        };
                        let accumulates = operator == "sequential";
                        let or =
                            |value: Option<&str>, default: &str| value.map_or(format!("{default}*"), str::to_owned);
                        let expected = [
                            or(inherit, "full"),
                            if accumulates { or(accumulate, "true") } else { "-".to_owned() },
                            if accumulates { or(format, "notes_only") } else { "-".to_owned() },
                            or(fresh, if operator == "inner_task" { "disabled" } else { "enabled" }),
                        ];
                        assert_eq!(settings(&task.operator), expected.join(" "), "{operator} {block}");

                        let on = accumulates && accumulate != Some("false");
                        let mut codes = Vec::new();
                        if inherit.is_none() {
                            codes.push("missing_field warning");
                        }
                        if accumulates && accumulate.is_none() {
                            codes.push("missing_field warning");
                        }
                        if accumulates && accumulate == Some("true") && format.is_none() {
                            codes.push("missing_format error");
                        }
                        if !accumulates && accumulate == Some("true") {
                            codes.push("accumulation_not_allowed error");
                        } else if !on && format.is_some() {
                            codes.push("format_without_accumulation warning");
                        }
                        if expected[0] == "none" && !on && expected[3].starts_with("disabled") {
                            codes.push("no_context warning");
                        }
                        let found = found(&parsed);
                        let mut found: Vec<_> = found.iter().map(|it| it.rsplit_once(' ').unwrap().0).collect();
                        found.retain(|it| !it.starts_with("missing_element"));
                        found.sort_unstable();
                        codes.sort_unstable();
                        assert_eq!(found, codes, "{operator} {block}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert_eq!(seen, 5 * 4 * 3 * 3 * 3);
}

// Booleans are `true` or `false`; an enum value is compared case-sensitively after trimming XML white space; anything
// else is `invalid_value`, and never gives a task more than its author may have meant.
#[test]
fn values_are_compared_without_white_space_around_them() {
    let wrong = [
        (
            "accumulate_data",
            ["True", "1", "yes", "", " ", "\u{a0}true", "truefalse", "t rue"].as_slice(),
            "full* false! notes_only* enabled*",
        ),
        (
            "inherit_context",
            &["Full", "all", "FULL", "\u{a0}full", "full|none|subset", "inherit", "NONE", "\u{feff}none"],
            "none! true* notes_only* enabled*",
        ),
        ("accumulation_format", &["notes", "notes-only", "Notes_Only", "full"], "full* true* notes_only! enabled*"),
        ("fresh_context", &["true", "on", "Enabled", "enable"], "full* true* notes_only* disabled!"),
    ];
    for (field, values, in_force) in wrong {
        for value in values {
            let task = with_block("sequential", &format!("<{field}>{value}</{field}>"));
            let parsed = parse(&task);
            let invalid: Vec<_> = parsed.diagnostics.iter().filter(|it| it.code.as_str() == "invalid_value").collect();
            assert_eq!(invalid.len(), 1, "{field} {value}: {parsed:?}");
            assert_eq!(invalid[0].severity, Severity::Error);
            assert!(invalid[0].message.contains("counts as"), "{:?}", invalid[0]);
            assert_eq!(settings(&parsed.task.operator), in_force, "{field} {value}");
            assert_eq!(invalid[0].line, Some(1), "{field} {value}");
        }
    }
    let right = [
        ("accumulate_data", ["true", "false"].as_slice()),
        ("inherit_context", &["full", "none", "subset"]),
        ("accumulation_format", &["notes_only", "full_output"]),
        ("fresh_context", &["enabled", "disabled"]),
    ];
    for (field, values) in right {
        for value in values {
            for spaced in [format!(" {value} "), format!("\n\t  {value}\r\n"), format!("&#9;<!-- -->{value}&#10;")] {
                let read = |value: &str| {
                    let parsed = parse(&with_block("sequential", &format!("<{field}>{value}</{field}>")));
                    let codes: Vec<_> = parsed.diagnostics.iter().map(|it| it.code).collect();
                    (codes, settings(&parsed.task.operator))
                };
                assert_eq!(read(&spaced), read(value), "{field} {spaced:?}");
            }
        }
    }
    for kind in ["atomic", "sequential", "reduce"] {
        for spaced in [format!(" {kind}"), format!("\n{kind}\t"), format!("&#32;{kind}&#13;")] {
            let parsed = parse(&format!("<task type='{spaced}'/>"));
            assert_eq!(parsed.task.operator.kind.as_str(), kind);
            assert!(!found(&parsed).iter().any(|it| it.starts_with("unknown_type")), "{spaced:?}: {parsed:?}");
        }
    }
    // What the value consists of does not matter.
    let same = with_block("atomic", "<inherit_context>f<!-- -->u<![CDATA[l]]>&#108;</inherit_context>");
    assert_eq!(settings(&clean(&same).operator), "full - - enabled*");
    let nested = parse(&with_block("atomic", "<inherit_context><b>full</b></inherit_context>"));
    assert_eq!(found(&nested), ["invalid_value error 1:58"]);
    assert_eq!(settings(&nested.task.operator), "none! - - enabled*");
    // An invalid setting is reported once, without its consequences.
    let invalid = "<inherit_context>full</inherit_context><accumulate_data>yes</accumulate_data><accumulation_format>full_output</accumulation_format>";
    assert_eq!(found(&parse(&with_block("sequential", invalid))), ["invalid_value error 1:101"]);
}

// `accumulate_data` true without a format is an error.
#[test]
fn accumulation_needs_a_format() {
    let block = "<inherit_context>full</inherit_context><accumulate_data>true</accumulate_data>";
    for options in [ParseOptions::default(), STRICT()] {
        let parsed = parse_with(&with_block("sequential", block), options);
        assert_eq!(found(&parsed), ["missing_format error 1:84"]);
        assert_eq!(settings(&parsed.task.operator), "full true notes_only* enabled*");
    }
}

// Accumulation on an operator without accumulation is an error.
#[test]
fn only_sequences_accumulate() {
    let block = "<context_management><inherit_context>full</inherit_context><accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format></context_management>";
    for (xml, column) in [
        (format!("<task type='atomic'>{block}</task>"), 80),
        (format!("<task type='reduce'>{block}<inner_task/><reduction_task/></task>"), 80),
        (format!("<task type='reduce'><inner_task>{block}</inner_task><reduction_task/></task>"), 92),
    ] {
        assert_eq!(found(&parse(&xml)), [format!("accumulation_not_allowed error 1:{column}")], "{xml}");
    }
    // Saying that nothing is accumulated is no accumulation.
    clean(&with_block("atomic", "<inherit_context>full</inherit_context><accumulate_data>false</accumulate_data>"));
}

// A format with accumulation off is a warning.
#[test]
fn a_format_without_accumulation() {
    let block = "<inherit_context>full</inherit_context><accumulate_data>false</accumulate_data><accumulation_format>notes_only</accumulation_format>";
    assert_eq!(found(&parse(&with_block("sequential", block))), ["format_without_accumulation warning 1:124"]);
    let block = "<inherit_context>full</inherit_context><accumulation_format>notes_only</accumulation_format>";
    assert_eq!(found(&parse(&with_block("reduce", block))).last().unwrap(), "format_without_accumulation warning 1:80");
}

// none + no accumulation + fresh disabled is the warning `no_context`.
#[test]
fn no_context_at_all() {
    let nothing = "<inherit_context>none</inherit_context><fresh_context>disabled</fresh_context>";
    assert_eq!(found(&parse(&with_block("atomic", nothing))), ["no_context warning 1:21"]);
    let off = format!("{nothing}<accumulate_data>false</accumulate_data>");
    assert_eq!(found(&parse(&with_block("sequential", &off))), ["no_context warning 1:25"]);
    let on = format!(
        "{nothing}<accumulate_data>true</accumulate_data><accumulation_format>notes_only</accumulation_format>"
    );
    clean(&with_block("sequential", &on));
    // By default an inner task gets nothing fresh.
    let inner = "<task type='reduce'><inner_task><context_management><inherit_context>none</inherit_context></context_management></inner_task><reduction_task/></task>";
    assert_eq!(found(&parse(inner)), ["no_context warning 1:33"]);
}

// A block without a required field: error in `strict` mode, default plus warning otherwise; a missing `fresh_context`
// is always just the default.
#[test]
fn required_fields() {
    for (kind, block, missing) in [
        ("atomic", "<fresh_context>enabled</fresh_context>", 1),
        ("reduce", "", 1),
        ("sequential", "", 2),
        ("sequential", "<inherit_context>full</inherit_context>", 1),
        ("sequential", "<accumulate_data>false</accumulate_data>", 1),
        ("atomic", "<inherit_context>full</inherit_context>", 0),
        ("sequential", "<inherit_context>full</inherit_context><accumulate_data>false</accumulate_data>", 0),
    ] {
        for (options, severity) in [(ParseOptions::default(), Severity::Warning), (STRICT(), Severity::Error)] {
            let parsed = parse_with(&with_block(kind, block), options);
            let found: Vec<_> = parsed.diagnostics.iter().filter(|it| it.code.as_str() != "missing_element").collect();
            assert_eq!(found.len(), missing, "{kind} {block}");
            for it in found {
                assert_eq!((it.code.as_str(), it.severity), ("missing_field", severity));
                assert_eq!((it.line, it.column), (Some(1), Some(u32::try_from(kind.len()).unwrap() + 15)));
            }
        }
    }
}

// A missing block has no diagnostic.
#[test]
fn a_missing_block_is_never_a_complaint() {
    let xml = "<task type='sequential'><steps><task type='atomic'/><task type='reduce'><inner_task/><reduction_task/></task></steps></task>";
    for options in [ParseOptions::default(), STRICT(), EXCLUSIVE(), ParseOptions { strict: true, ..EXCLUSIVE() }] {
        assert_eq!(parse_with(xml, options).diagnostics, []);
    }
}

// `exclusive: true` also rejects inherit full/subset together with fresh enabled.
#[test]
fn exclusive_refuses_both() {
    for (inherit, fresh, conflict) in [
        ("full", "<fresh_context>enabled</fresh_context>", Some(60)),
        ("subset", "<fresh_context>enabled</fresh_context>", Some(62)),
        ("full", "", Some(21)),
        ("full", "<fresh_context>disabled</fresh_context>", None),
        ("none", "<fresh_context>enabled</fresh_context>", None),
        ("none", "", None),
    ] {
        let xml = with_block("atomic", &format!("<inherit_context>{inherit}</inherit_context>{fresh}"));
        let expected: Vec<_> =
            conflict.iter().map(|column| format!("exclusive_conflict error 1:{}", column + 20)).collect();
        assert_eq!(found(&parse_with(&xml, EXCLUSIVE())), expected, "{inherit} {fresh}");
        assert_eq!(parse(&xml).diagnostics, []);
    }
}

// Settings are fixed when the template is parsed. (In JavaScript the task is frozen, too: see
// tests/runtimes/operators.test.mjs.)
#[test]
fn the_same_template_gives_the_same_task() {
    let xml = "<task type='sequential'><steps><task/></steps></task>";
    assert_eq!(parse(xml), parse(xml));
    assert_eq!(
        Operator::new(Kind::Atomic, OperatorRole::InnerTask),
        clean("<task type='reduce'><inner_task type='atomic'/><reduction_task/></task>")
            .inner_task
            .map(|mut it| {
                it.operator.origins.kind = None;
                it.operator
            })
            .unwrap()
    );
}

#[test]
fn what_stands_twice_counts_once() {
    let xml = "<task type='sequential'><description>a</description><description>b</description>
<context_management><inherit_context>none</inherit_context><inherit_context>full</inherit_context><accumulate_data>false</accumulate_data></context_management>
<context_management><inherit_context>subset</inherit_context></context_management>
<steps><task type='atomic'/></steps><steps><task type='atomic'/></steps></task>";
    let parsed = parse(xml);
    assert_eq!(
        found(&parsed),
        [
            "duplicate_element error 1:53",
            "duplicate_element error 2:60",
            "duplicate_element error 3:1",
            "duplicate_element error 4:37",
        ]
    );
    assert_eq!(parsed.task.operator.description.as_deref(), Some("a"));
    assert_eq!(settings(&parsed.task.operator), "none false notes_only* enabled*");
    assert_eq!(parsed.task.steps.unwrap().len(), 1);
    let reduce =
        parse("<task type='reduce'><inner_task id='a'/><inner_task id='b'/><reduction_task/><reduction_task/></task>");
    assert_eq!(found(&reduce), ["duplicate_element error 1:41", "duplicate_element error 1:78"]);
    assert_eq!(reduce.task.inner_task.unwrap().operator.id.as_deref(), Some("a"));
}

#[test]
fn misplaced_elements_are_reported() {
    let cases = [
        ("<task type='atomic'><steps><task/></steps></task>", vec!["misplaced_element warning 1:21"]),
        ("<task type='sequential'><inner_task/></task>", vec!["misplaced_element warning 1:25"]),
        ("<task type='sequential'><task/></task>", vec!["misplaced_element warning 1:25"]),
        ("<task type='atomic'><inherit_context>none</inherit_context></task>", vec!["misplaced_element warning 1:21"]),
        ("<task type='atomic' fresh_context='disabled'/>", vec!["misplaced_element warning 1:21"]),
        (
            "<task type='atomic'><context_management inherit_context='none'/></task>",
            vec!["missing_field warning 1:21", "misplaced_element warning 1:41"],
        ),
        (
            "<task type='sequential'><steps><step/>x</steps></task>",
            vec!["misplaced_element warning 1:32", "text_ignored warning 1:39"],
        ),
        ("<task type='atomic'>Do it</task>", vec!["text_ignored warning 1:21"]),
        ("<task type='reduce'/>", vec!["missing_element info 1:1", "missing_element info 1:1"]),
        (
            "<task type='sequential'><steps><task type='atomic' id='a'/><task type='atomic' id='a'/><task type='atomic' id='step-4'/><task type='atomic'/></steps></task>",
            vec!["duplicate_step_id warning 1:60", "duplicate_step_id warning 1:121"],
        ),
    ];
    for (xml, expected) in cases {
        assert_eq!(found(&parse(xml)), expected, "{xml}");
    }
}

#[test]
fn spans_are_in_utf16_units() {
    let xml = "\u{FEFF}<!-- 😀é -->\r\n<task type='sequential'><steps> <task type='atomic' id='😀'/></steps></task> ";
    let task = clean(xml);
    let units: Vec<u16> = xml.encode_utf16().collect();
    let cut = |span: ctxweave::operators::Span| String::from_utf16(&units[span.start..span.end]).unwrap();
    assert_eq!(cut(task.span), xml[xml.find("<task").unwrap()..].trim_end());
    let step = &task.steps.as_ref().unwrap()[0];
    assert_eq!(cut(step.span), "<task type='atomic' id='😀'/>");
    assert_eq!((step.line, step.column), (2, 33));
}
