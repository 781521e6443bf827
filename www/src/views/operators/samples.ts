/** Sample templates. */
export interface Sample {
  id: string;
  name: string;
  xml: string;
}

const REPORT = `<task type="sequential">
  <description>Write the report of the week</description>
  <context_management>
    <inherit_context>full</inherit_context>
    <accumulate_data>true</accumulate_data>
    <accumulation_format>notes_only</accumulation_format>
    <fresh_context>enabled</fresh_context>
  </context_management>
  <steps>
    <task type="atomic" id="read">
      <description>Read what has happened</description>
    </task>
    <task type="atomic" id="draft">
      <description>Draft the report</description>
      <context_management>
        <inherit_context>subset</inherit_context>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
    <task type="atomic" id="check">
      <description>Check the draft</description>
      <context_management>
        <inherit_context>none</inherit_context>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
  </steps>
</task>
`;

const REDUCE = `<task type="reduce">
  <description>Sum up all inputs</description>
  <context_management>
    <inherit_context>subset</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
  <inner_task>
    <description>Sum up one input</description>
    <context_management>
      <inherit_context>none</inherit_context>
    </context_management>
  </inner_task>
  <reduction_task>
    <!-- Nothing said, so all of it is the default. -->
    <description>Make one text of all</description>
  </reduction_task>
</task>
`;

const NESTED = `<task type="sequential">
  <description>Review a code base</description>
  <steps>
    <task type="reduce" id="files">
      <description>Review each file</description>
      <inner_task>
        <task type="sequential">
          <steps>
            <task type="atomic"><description>Read the file</description></task>
            <task type="atomic"><description>Name its faults</description></task>
          </steps>
        </task>
      </inner_task>
      <reduction_task/>
    </task>
    <task type="atomic" id="letter">
      <description>Write to the author</description>
    </task>
  </steps>
</task>
`;

const MISTAKES = `<task type="sequential">
  <description>Everything that one gets wrong</description>
  <context_management>
    <inherit_context>Full</inherit_context>
    <accumulate_data>true</accumulate_data>
    <fresh>enabled</fresh>
  </context_management>
  <steps>
    <task>
      <context_management>
        <inherit_context>none</inherit_context>
        <accumulate_data>true</accumulate_data>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
    <task type="map"/>
    <step/>
  </steps>
</task>
`;

export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "report", name: "Report", xml: REPORT },
  { id: "reduce", name: "Reduce", xml: REDUCE },
  { id: "nested", name: "Nested", xml: NESTED },
  { id: "mistakes", name: "Mistakes", xml: MISTAKES },
];
