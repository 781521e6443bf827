import type { CommitRecord } from "ctxweave/commits";
import type { OpenSession } from "./session.js";

/** A row of the timeline: a commit, and the lines next to it. */
export interface Row {
  record: CommitRecord;
  lane: number;
  /** Whether it begins a branch: an alternative continuation, or another agent's conversation. */
  begins?: "branch" | "agent" | "conversation";
  edges: readonly Edge[];
}

/** An edge drawn in one row: a line down a lane, its upper or lower half, or a bend between two lanes. */
export interface Edge {
  lane: number;
  part: "all" | "above" | "below" | "bend";
  /** For a bend: the lane where it starts. */
  from?: number;
}

/** Maximum number of lanes; further branches share the last. */
const MAX_LANES = 8;

interface Branch {
  /** Row of the parent commit; undefined for a root. */
  from: number | undefined;
  first: number;
  last: number;
  lane: number;
}

/** The commits from the first to the last, with branches next to the path to the tip. */
export function timelineOf({ records, graph, imported }: OpenSession): readonly Row[] {
  const ordered = inTime(records);
  const rowOf = new Map(ordered.map(({ id }, row) => [id, row]));
  const mainTip = imported.tip ?? ordered.at(-1)?.id;
  const main = new Set(mainTip === undefined ? [] : graph.history(mainTip).map(({ id }) => id));
  const branchOf: Branch[] = [];
  const branches: Branch[] = [];
  const goesOn = new Set<string>();
  const begins = new Map<number, Row["begins"]>();
  for (const [row, record] of ordered.entries()) {
    const origin = originOf(record);
    const from = origin === undefined ? undefined : rowOf.get(origin);
    const isNext =
      record.parent !== undefined && from !== undefined && !goesOn.has(record.parent) && isFirst(record, main);
    if (isNext) goesOn.add(record.parent as string);
    const before = isNext ? branchOf[from] : undefined;
    const branch = before ?? { from, first: row, last: row, lane: 0 };
    branch.last = row;
    branchOf[row] = branch;
    if (!before) {
      branches.push(branch);
      if (branches.length > 1 || !main.has(record.id)) {
        begins.set(row, from === undefined ? "conversation" : record.parent === undefined ? "agent" : "branch");
      }
    }
  }
  placeLanes(branches, branchOf[rowOf.get(mainTip ?? "") ?? 0]);
  const edges = edgesOf(branches, branchOf, ordered.length);
  return ordered.map((record, row) => {
    const begin = begins.get(row);
    return {
      record,
      lane: branchOf[row]?.lane ?? 0,
      edges: edges[row] ?? [],
      ...(begin ? { begins: begin } : {}),
    };
  });
}

/** The commit that this one continues; for another agent's conversation, the one that started it. */
function originOf(record: CommitRecord): string | undefined {
  const started = record["side_chain_of"];
  return record.parent ?? (typeof started === "string" ? started : undefined);
}

/** Of the children of a commit, the one on the path to the tip keeps the lane; otherwise the first. */
function isFirst(record: CommitRecord, main: ReadonlySet<string>): boolean {
  return main.has(record.id) || !main.has(record.parent as string);
}

/** By time, but each commit after the one that it continues. */
function inTime(records: readonly CommitRecord[]): readonly CommitRecord[] {
  const times = new Map<string, number>();
  for (const record of records) {
    const own = Date.parse(record.created_at) || 0;
    times.set(record.id, Math.max(own, times.get(originOf(record) ?? "") ?? 0));
  }
  return [...records].sort((a, b) => (times.get(a.id) ?? 0) - (times.get(b.id) ?? 0));
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

function edgesOf(branches: readonly Branch[], branchOf: readonly Branch[], rows: number): Edge[][] {
  const edges: Edge[][] = Array.from({ length: rows }, () => []);
  for (const { from, first, last, lane } of branches) {
    const start = from ?? first;
    for (let row = start; row <= last; row++) {
      if (row === from) edges[row]?.push({ lane, part: "bend", from: branchOf[from]?.lane ?? 0 });
      else if (row === last && row === start) continue;
      else edges[row]?.push({ lane, part: row === last ? "above" : row === start ? "below" : "all" });
    }
  }
  return edges;
}
