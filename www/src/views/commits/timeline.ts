import type { CommitRecord } from "ctxweave/commits";
import type { OpenSession } from "./session.js";

/** A row of the timeline: a commit, and the branch that it belongs to. */
export interface Row {
  record: CommitRecord;
  branch: Branch;
  /** What begins here: an alternative continuation, or another agent's conversation. */
  begins: "branch" | "agent" | "conversation" | undefined;
}

/** Commits that continue each other, in one lane. */
export interface Branch {
  /** The row where it branches off, and the branch of that row; undefined for a root. */
  from: number | undefined;
  parent: Branch | undefined;
  first: number;
  last: number;
  lane: number;
}

/** Maximum number of lanes; further branches share the last. */
const MAX_LANES = 8;

/** The commits from the first to the last, with branches next to the path to the tip. */
export function timelineOf({ records, graph, imported }: OpenSession): readonly Row[] {
  const ordered = inTime([...records.values()]);
  const rowOf = new Map(ordered.map(({ id }, row) => [id, row]));
  const tip = imported.tip ?? ordered.at(-1)?.id;
  const main = new Set(tip === undefined ? [] : graph.history(tip).map(({ id }) => id));
  // Of the children of a commit, the one on the path to the tip keeps the lane; otherwise the first.
  const nextOf = new Map<string, string>();
  for (const { id, parent } of ordered) {
    if (parent && !nextOf.has(parent) && (main.has(id) || !main.has(parent))) nextOf.set(parent, id);
  }
  const branches: Branch[] = [];
  const rows: Row[] = [];
  for (const [at, record] of ordered.entries()) {
    const from = rowOf.get(originOf(record) ?? "");
    const isNext = record.parent !== undefined && nextOf.get(record.parent) === record.id;
    const parent = from === undefined ? undefined : rows[from]?.branch;
    let branch = isNext ? parent : undefined;
    let begins: Row["begins"];
    if (!branch) {
      branches.push((branch = { from, parent, first: at, last: at, lane: 0 }));
      const kind = from === undefined ? "conversation" : record.parent === undefined ? "agent" : "branch";
      begins = at > 0 || !main.has(record.id) ? kind : undefined;
    }
    branch.last = at;
    rows.push({ record, branch, begins });
  }
  placeLanes(branches, rows[rowOf.get(tip ?? "") ?? 0]?.branch);
  return rows;
}

/** The commit that this one continues; for another agent's conversation, the one that started it. */
function originOf(record: CommitRecord): string | undefined {
  const started = record["side_chain_of"];
  return record.parent ?? (typeof started === "string" ? started : undefined);
}

/** By time, but each commit after the one that it continues. */
function inTime(records: readonly CommitRecord[]): readonly CommitRecord[] {
  const times = new Map<string, number>();
  for (const record of records) {
    const own = Date.parse(record.created_at) || 0;
    times.set(record.id, Math.max(own, times.get(originOf(record) ?? "") ?? 0));
  }
  return records.toSorted((a, b) => (times.get(a.id) ?? 0) - (times.get(b.id) ?? 0));
}

/** The path to the tip has the first lane; each branch has the first lane that is free over its length. */
function placeLanes(branches: readonly Branch[], main: Branch | undefined): void {
  const takenTo: number[] = [Infinity];
  for (const branch of branches) {
    if (branch === main) continue;
    const start = branch.from ?? branch.first;
    let lane = takenTo.findIndex((last) => last < start);
    if (lane < 0) lane = takenTo.length;
    branch.lane = Math.min(lane, MAX_LANES - 1);
    takenTo[lane] = branch.last;
  }
}
