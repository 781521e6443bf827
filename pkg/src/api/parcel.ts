/** What src/wasm/resident.rs sends as numbers and other things, made into the objects that it stands for. */

import type { Diagnostic } from "../types/common.js";
import type { AssemblyReport, DialogueAssembly, LocalId, Message, MessageSpan, NodeReport } from "../types/loom.js";
import type { DialogueSummary, ReportSummary } from "../types/resident.js";

/** The messages of the last dialogue that came, for the next one to say which of them are the same. */
export interface Kept {
  /** The number of that dialogue; 0 before the first. */
  number: number;
  /** A text and ids; undefined for a message that comes anew each time. None of it is ever handed out. */
  messages: (Message | undefined)[];
}

const STRATEGIES = ["truncateMiddle", "rollingWindow", "stopAtLimit"] as const;
const STARTS = ["any", "user"] as const;
const ROLES = ["system", "developer", "user", "assistant"] as const;

/** Goes through numbers and things, from their beginnings. */
class Parcel {
  at = 0;
  #thing = 0;

  constructor(
    readonly numbers: Float64Array,
    readonly things: unknown[],
  ) {}

  number(): number {
    return this.numbers[this.at++] as number;
  }

  /** A number, or undefined where a −1 says that this and what belongs to it is absent. */
  optional(): number | undefined {
    const number = this.number();
    return number < 0 ? undefined : number;
  }

  thing(): unknown {
    return this.things[this.#thing++];
  }

  /** The field with the next thing, where there is one. */
  field<Name extends string, Type = string>(name: Name): { [name in Name]?: Type } {
    const thing = this.thing();
    return thing === undefined ? {} : ({ [name]: thing } as { [name in Name]?: Type });
  }
}

/** A report of numbers. */
export function unpackReport(packed: unknown): ReportSummary {
  const [numbers, things] = packed as [Float64Array, unknown[]];
  return report(new Parcel(numbers, things));
}

/** In the order of `put_report`, which is that of the fields. */
function report(parcel: Parcel): ReportSummary {
  const strategy = STRATEGIES[parcel.number()]!;
  const limit = parcel.number();
  const tokens: ReportSummary["tokens"] = {
    system: parcel.number(),
    messages: parcel.number(),
    overhead: parcel.number(),
    total: parcel.number(),
    tokenizer: parcel.thing() as string,
  };
  const addendum = parcel.optional();
  if (addendum !== undefined) {
    tokens.loomAware = {
      addendum,
      memory: parcel.number(),
      headers: parcel.number(),
      loomBlock: parcel.number(),
    };
  }
  const truncated = parcel.number() === 1;
  const nodes = parcel.optional();
  const cut = nodes !== undefined && {
    nodes,
    partialNodes: parcel.number(),
    tokens: parcel.number(),
    position: parcel.number(),
    ...parcel.field("marker"),
  };
  const messages = parcel.optional();
  const cache = messages !== undefined && { messages, tokens: parcel.number(), ...parcel.field("fingerprint") };
  return {
    strategy,
    limit,
    tokens,
    truncated,
    ...(cut && { cut }),
    ...(cache && { cache }),
    minimumRecentNodesMet: parcel.number() === 1,
    pathLength: parcel.number(),
    preferences: {
      truncationStrategy: STRATEGIES[parcel.number()]!,
      minimumRecentNodes: parcel.number(),
      tokenBuffer: parcel.number(),
      truncationMarker: parcel.thing() as string,
      cutQuantum: parcel.number(),
      startOn: STARTS[parcel.number()]!,
    },
    diagnostics: (parcel.thing() as Diagnostic[] | undefined) ?? [],
  };
}

/** A dialogue, made of what came and what was kept. What is kept goes on to this dialogue once all of it is there. */
export function unpackDialogue(kept: Kept, packed: unknown): DialogueSummary {
  const [numbers, things] = packed as [Float64Array, unknown[]];
  const parcel = new Parcel(numbers, things);
  const summary = report(parcel);
  return { ...dialogue(kept, parcel), report: summary };
}

/** The same with the whole account. */
export function unpackAssembly(kept: Kept, packed: unknown): DialogueAssembly {
  const [numbers, things] = packed as [Float64Array, unknown[]];
  const parcel = new Parcel(numbers, things);
  const { cut, pathLength: _, preferences, diagnostics, ...summary } = report(parcel);
  const count = parcel.number();
  const all = parcel.thing() as string;
  const nodes: NodeReport[] = [];
  for (let at = 0, from = 0; at < count; at += 1) {
    const to = from + parcel.number();
    const what = parcel.number();
    const tokens = parcel.number();
    const message = parcel.number() - 1;
    nodes.push(row(all.slice(from, to), what, tokens, message));
    from = to;
  }
  const path = ids(parcel, nodes);
  const { minimumRecentNodesMet, cache, ...before } = summary;
  const whole: AssemblyReport = {
    ...before,
    ...(cut && {
      cut: {
        nodeIds: ids(parcel, nodes),
        partialNodeIds: ids(parcel, nodes),
        tokens: cut.tokens,
        position: cut.position,
        ...(cut.marker !== undefined && { marker: cut.marker }),
      },
    }),
    ...(cache && { cache }),
    minimumRecentNodesMet,
    path,
    nodes,
    notOnPath: parcel.number(),
    ...parcel.field<"localIds", LocalId[]>("localIds"),
    preferences,
    diagnostics,
  };
  return { ...dialogue(kept, parcel), report: whole };
}

const PARTS = ["path", "context", "instruction", "annotation", "version", "pinned"] as const;
const FATES = ["kept", "cut", "excluded", "skipped"] as const;
const REASONS = [
  undefined,
  "excluded",
  "pruned",
  "annotation",
  "blank",
  "toolPairBroken",
  "otherVersion",
  "instructionScope",
  "nonText",
  "systemContextOff",
  "overLimit",
  "shortened",
] as const;

/** What `put_rows` made one number of, and what stands beside that. */
function row(nodeId: string, what: number, tokens: number, message: number): NodeReport {
  const as = PARTS[what & 7]!;
  const fate = FATES[(what >> 3) & 3]!;
  const pinned = ((what >> 5) & 1) === 1;
  const reason = REASONS[what >> 6];
  // Most rows are of these two shapes.
  if (reason === undefined && message >= 0 && !pinned) return { nodeId, as, fate, tokens, message };
  if (reason !== undefined && message < 0 && !pinned) return { nodeId, as, fate, reason, tokens };
  return {
    nodeId,
    as,
    fate,
    ...(reason !== undefined && { reason }),
    tokens,
    ...(message >= 0 && { message }),
    ...(pinned && { pinned }),
  };
}

function ids(parcel: Parcel, nodes: NodeReport[]): string[] {
  const ids: string[] = [];
  for (let runs = parcel.number(); runs > 0; runs -= 1) {
    const from = parcel.number();
    const count = parcel.number();
    if (from < 0) ids.push(parcel.thing() as string);
    else for (let at = from; at < from + count; at += 1) ids.push(nodes[at]!.nodeId);
  }
  return ids;
}

function dialogue(kept: Kept, parcel: Parcel): { system?: string; messages: Message[] } {
  const number = parcel.number();
  const system = parcel.field("system");
  let keep: Kept["messages"] = [];
  const messages: Message[] = [];
  while (parcel.at < parcel.numbers.length) {
    const from = parcel.number();
    const count = parcel.number();
    if (from >= 0) {
      const same = kept.messages.slice(from, from + count);
      // Mostly one run is nearly all of it.
      keep = keep.length === 0 ? same : keep.concat(same);
      for (let at = 0; at < same.length; at += 1) messages.push(copy(same[at]!));
      continue;
    }
    const keeps = from > -11;
    const role = ROLES[keeps ? -1 - from : -11 - from]!;
    const content = parcel.thing() as Message["content"];
    const nodeIds: string[] = [];
    for (let at = 0; at < count; at += 1) nodeIds.push(parcel.thing() as string);
    const message = { role, content, nodeIds, spans: spans(parcel, nodeIds) };
    keep.push(keeps ? message : undefined);
    messages.push(keeps ? copy(message) : message);
  }
  kept.number = number;
  kept.messages = keep;
  return { ...system, messages };
}

/** In the form of `put_spans`. They are frozen, so that they need not be copied for each dialogue that has the message. */
function spans(parcel: Parcel, nodeIds: readonly string[]): readonly MessageSpan[] {
  const spans: MessageSpan[] = [];
  for (let count = parcel.number(); count > 0; count -= 1) {
    const nodeId = nodeIds[parcel.number()]!;
    const part = parcel.optional();
    const [start, end] = [parcel.number(), parcel.number()];
    spans.push(Object.freeze(part === undefined ? { nodeId, start, end } : { nodeId, part, start, end }));
  }
  return Object.freeze(spans);
}

/**
 * A message of the caller's own: what he does to it must not come back. The content is a text, which nobody can change,
 * and the spans are frozen.
 */
function copy({ role, content, nodeIds, spans }: Message): Message {
  return { role, content, nodeIds: nodeIds.length === 1 ? [nodeIds[0]!] : nodeIds.slice(), spans };
}
