import { Check, optionsOf, SelectField } from "../../ui/fields.js";
import { change, choose, index, outcome, path, rows, settings } from "./state.js";
import { choicePoints, nodeName, snippet, versionSets, type TreeIndex } from "./tree-index.js";

/** If several edges lead to a node, the user chooses one. */
export function ChoicePickers() {
  const tree = index.value;
  const made = outcome.value;
  if (!tree || !made) return null;
  const asked = made.kind === "error" && made.code === "ambiguous_path" ? String(made.details["nodeId"]) : undefined;
  const walked = asked === undefined || path.value.includes(asked) ? path.value : [...path.value, asked];
  const points = choicePoints(tree, walked).filter(
    ({ nodeId }) => nodeId === asked || settings.value.choices[nodeId] !== undefined,
  );
  if (points.length === 0) return null;
  return (
    <fieldset class="pickers">
      <legend>Which way</legend>
      {points.map(({ nodeId, candidates }) => (
        <SelectField
          key={nodeId}
          label={`Into ${nodeName(tree.node.get(nodeId), nodeId)}`}
          origin={settings.value.choices[nodeId] === undefined ? "default" : "set"}
          onReset={() => choose(nodeId, undefined)}
          value={settings.value.choices[nodeId] ?? ""}
          options={[
            ...(settings.value.choices[nodeId] === undefined ? [{ value: "", name: "Choose…" }] : []),
            ...candidates.map(({ edgeId, from }) => ({ value: edgeId, name: describe(tree, from) })),
          ]}
          onValue={(edgeId) => choose(nodeId, edgeId === "" ? undefined : edgeId)}
        />
      ))}
    </fieldset>
  );
}

/** If an edge starts from several versions of one node, the user chooses one. */
export function VersionPickers() {
  const tree = index.value;
  if (!tree) return null;
  const sets = versionSets(tree, path.value);
  if (sets.length === 0) return null;
  const onPath = new Set(path.value);
  return (
    <fieldset class="pickers">
      <legend>Versions on the path</legend>
      {sets.map(({ target, versions }) => {
        const key = versions.find((id) => settings.value.versions[id] !== undefined);
        const first = versions[0] as string;
        return (
          <SelectField
            key={target}
            label={`Version of ${nodeName(tree.node.get(first), first)}`}
            origin={key === undefined ? "default" : "set"}
            onReset={() => pickVersion(versions, undefined)}
            value={versions.find((version) => onPath.has(version)) ?? ""}
            options={versions.map((version) => ({ value: version, name: describe(tree, version) }))}
            onValue={(version) => pickVersion(versions, version)}
          />
        );
      })}
    </fieldset>
  );
}

function pickVersion(versions: string[], chosen: string | undefined): void {
  const selections = { ...settings.value.versions };
  for (const id of versions) delete selections[id];
  const first = versions[0];
  if (chosen !== undefined && first !== undefined) selections[first] = chosen;
  change({ versions: selections });
}

/** Annotations of the path to include: none, all, or the selected ones. */
export function AnnotationPicker() {
  const tree = index.value;
  const { annotations } = settings.value;
  if (!tree) return null;
  const here = [...rows.value.values()].filter((row) => row.as === "annotation").map((row) => row.nodeId);
  const kind = Array.isArray(annotations) ? "some" : annotations;
  return (
    <>
      <SelectField
        label="Annotations"
        hint={here.length === 0 ? "No annotations on this path." : undefined}
        options={optionsOf({ none: "Leave out", all: "Include all", some: "Include some…" })}
        value={kind}
        onValue={(value) => change({ annotations: value === "some" ? [] : value })}
      />
      {Array.isArray(annotations) && here.length > 0 ? (
        <ul class="checks" aria-label="Annotations to include">
          {here.map((id) => (
            <li key={id}>
              <Check
                label={describe(tree, id)}
                value={annotations.includes(id)}
                onValue={(checked) =>
                  change({ annotations: checked ? [...annotations, id] : annotations.filter((a) => a !== id) })
                }
              />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function describe(tree: TreeIndex, id: string): string {
  const node = tree.node.get(id);
  return `${nodeName(node, id)}: ${snippet(node, 48)}`;
}
