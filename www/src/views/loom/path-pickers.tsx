import { Check, optionsOf, SelectField } from "../../ui/fields.js";
import { change, choose, index, outcome, path, rows, settings } from "./state.js";
import { choicePoints, nodeName, snippet, versionSets } from "./tree-index.js";

/** A node in one line. */
function describe(id: string): string {
  const node = index.value?.node.get(id);
  return `${nodeName(node, id)}: ${snippet(node, 48)}`;
}

const nameOf = (id: string): string => nodeName(index.value?.node.get(id), id);

/** If several edges lead to a node, the user chooses one. */
export function ChoicePickers() {
  const tree = index.value;
  const made = outcome.value;
  if (!tree || !made) return null;
  const { choices } = settings.value;
  const asked = made.kind === "error" && made.code === "ambiguous_path" ? [String(made.details["nodeId"])] : [];
  const points = choicePoints(tree, [...path.value.filter((id) => choices[id] !== undefined), ...asked]);
  if (points.length === 0) return null;
  return (
    <fieldset class="pickers">
      <legend>Which way</legend>
      {points.map(({ nodeId, candidates }) => (
        <SelectField
          key={nodeId}
          label={`Into ${nameOf(nodeId)}`}
          origin={choices[nodeId] === undefined ? "default" : "set"}
          onReset={() => choose(nodeId, undefined)}
          value={choices[nodeId] ?? ""}
          options={[
            ...(choices[nodeId] === undefined ? [{ value: "", name: "Choose…" }] : []),
            ...candidates.map(({ edgeId, from }) => ({ value: edgeId, name: describe(from) })),
          ]}
          onValue={(edgeId) => choose(nodeId, edgeId || undefined)}
        />
      ))}
    </fieldset>
  );
}

/** If an edge starts from several versions of one node, the user chooses one. */
export function VersionPickers() {
  const tree = index.value;
  const sets = tree ? versionSets(tree, path.value) : [];
  if (sets.length === 0) return null;
  const onPath = new Set(path.value);
  return (
    <fieldset class="pickers">
      <legend>Versions on the path</legend>
      {sets.map((versions) => (
        <SelectField
          key={versions[0]}
          label={`Version of ${nameOf(versions[0])}`}
          origin={versions.some((id) => settings.value.versions[id] !== undefined) ? "set" : "default"}
          onReset={() => pickVersion(versions, undefined)}
          value={versions.find((id) => onPath.has(id)) ?? ""}
          options={versions.map((id) => ({ value: id, name: describe(id) }))}
          onValue={(id) => pickVersion(versions, id)}
        />
      ))}
    </fieldset>
  );
}

function pickVersion(versions: [string, ...string[]], chosen: string | undefined): void {
  const others = Object.entries(settings.value.versions).filter(([id]) => !versions.includes(id));
  const picked = chosen === undefined ? {} : { [versions[0]]: chosen };
  change({ versions: { ...Object.fromEntries(others), ...picked } });
}

/** Annotations of the path to include: none, all, or the selected ones. */
export function AnnotationPicker() {
  const { annotations } = settings.value;
  const here = [...rows.value.values()].filter((row) => row.as === "annotation").map((row) => row.nodeId);
  const some = Array.isArray(annotations) ? annotations : undefined;
  return (
    <>
      <SelectField
        label="Annotations"
        hint={here.length === 0 ? "No annotations on this path." : undefined}
        options={optionsOf({ none: "Leave out", all: "Include all", some: "Include some…" })}
        value={Array.isArray(annotations) ? "some" : annotations}
        onValue={(value) => change({ annotations: value === "some" ? [] : value })}
      />
      {some && here.length > 0 ? (
        <ul class="checks" aria-label="Annotations to include">
          {here.map((id) => (
            <li key={id}>
              <Check
                label={describe(id)}
                value={some.includes(id)}
                onValue={(isChecked) =>
                  change({ annotations: isChecked ? [...some, id] : some.filter((one) => one !== id) })
                }
              />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
