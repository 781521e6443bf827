//! Back to XML: a task can be written with all defaults made explicit (docs/operators.md).

use ctxweave::operators::{Task, write_task};
use ctxweave::{Code, Limits};

use super::{clean, parse, settings};

fn written(xml: &str) -> String {
    write_task(&parse(xml).task, Limits::default()).unwrap()
}

#[test]
fn defaults_become_explicit_and_nothing_else_changes() {
    let xml = "<?xml version=\"1.0\"?>\r\n<!-- kept -->\r\n<task type=\"sequential\">\r\n    <description>Do &amp; see</description>\r\n    <!-- steps -->\r\n    <steps>\r\n        <task type='atomic'>\r\n            <inputs><![CDATA[<x>]]></inputs>\r\n        </task>\r\n        <task/>\r\n    </steps>\r\n</task>\r\n";
    let expected = "<?xml version=\"1.0\"?>\r\n<!-- kept -->\r\n<task type=\"sequential\">\r\n    <description>Do &amp; see</description>\r\n    <context_management>\r\n        <inherit_context>full</inherit_context>\r\n        <accumulate_data>true</accumulate_data>\r\n        <accumulation_format>notes_only</accumulation_format>\r\n        <fresh_context>enabled</fresh_context>\r\n    </context_management>\r\n    <!-- steps -->\r\n    <steps>\r\n        <task type='atomic'>\r\n            <context_management>\r\n                <inherit_context>full</inherit_context>\r\n                <fresh_context>enabled</fresh_context>\r\n            </context_management>\r\n            <inputs><![CDATA[<x>]]></inputs>\r\n        </task>\r\n        <task type=\"atomic\"><context_management><inherit_context>full</inherit_context><fresh_context>enabled</fresh_context></context_management></task>\r\n    </steps>\r\n</task>\r\n";
    assert_eq!(written(xml), expected);
    clean(expected);
}

#[test]
fn blocks_are_completed_in_their_own_manner() {
    for (xml, expected) in [
        (
            "<task type='sequential'>\n\t<context_management>\n\t\t<!-- why -->\n\t\t<fresh_context>disabled</fresh_context> <!-- a -->\n\t</context_management>\n</task>",
            "<task type='sequential'>\n\t<context_management>\n\t\t<!-- why -->\n\t\t<fresh_context>disabled</fresh_context>\n\t\t<inherit_context>full</inherit_context>\n\t\t<accumulate_data>true</accumulate_data>\n\t\t<accumulation_format>notes_only</accumulation_format> <!-- a -->\n\t</context_management>\n</task>",
        ),
        (
            "<task type='atomic'><context_management/></task>",
            "<task type='atomic'><context_management><inherit_context>full</inherit_context><fresh_context>enabled</fresh_context></context_management></task>",
        ),
        (
            "<task type='atomic'>\n  <context_management>\n  </context_management>\n</task>",
            "<task type='atomic'>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>",
        ),
        // Errors are left to the author; a format without effect is not written.
        (
            "<task type='sequential'><context_management><inherit_context>FULL</inherit_context><accumulate_data>false</accumulate_data><fresh_context>enabled</fresh_context></context_management></task>",
            "<task type='sequential'><context_management><inherit_context>FULL</inherit_context><accumulate_data>false</accumulate_data><fresh_context>enabled</fresh_context></context_management></task>",
        ),
        ("<task type='map'/>", "<task type='map'/>"),
        (
            "<task type='reduce'>\n  <inner_task/>\n  <reduction_task></reduction_task>\n</task>",
            "<task type='reduce'>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n  <inner_task><context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management></inner_task>\n  <reduction_task><context_management><inherit_context>full</inherit_context><fresh_context>enabled</fresh_context></context_management></reduction_task>\n</task>",
        ),
    ] {
        assert_eq!(written(xml), expected);
        assert_eq!(written(expected), expected, "the output is complete");
    }
}

#[test]
fn only_a_whole_task_can_be_written() {
    let task = parse("<task type='sequential'><steps><task type='atomic'/></steps></task>").task;
    let step: &Task = &task.steps.as_ref().unwrap()[0];
    let error = write_task(step, Limits::default()).unwrap_err();
    assert_eq!((error.code(), error.details()["path"].as_str()), (Code::InvalidInput, Some("task.source")));
    assert_eq!(settings(&step.operator), "full* - - enabled*");
}
