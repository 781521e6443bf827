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
class PackedReport {
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
export function unpackReport(answer: unknown): ReportSummary {
  const [numbers, things] = answer as [Float64Array, unknown[]];
  return report(new PackedReport(numbers, things));
}

/** In the order of `put_report`, which is that of the fields. */
function report(packed: PackedReport): ReportSummary {
  const strategy = STRATEGIES[packed.number()]!;
  const limit = packed.number();
  const tokens: ReportSummary["tokens"] = {
    system: packed.number(),
    messages: packed.number(),
    overhead: packed.number(),
    total: packed.number(),
    tokenizer: packed.thing() as string,
  };
  const addendum = packed.optional();
  if (addendum !== undefined) {
    tokens.loomAware = {
      addendum,
      memory: packed.number(),
      headers: packed.number(),
      loomBlock: packed.number(),
    };
  }
  const truncated = packed.number() === 1;
  const nodes = packed.optional();
  const cut = nodes !== undefined && {
    nodes,
    partialNodes: packed.number(),
    tokens: packed.number(),
    position: packed.number(),
    ...packed.field("marker"),
  };
  const messages = packed.optional();
  const cache = messages !== undefined && { messages, tokens: packed.number(), ...packed.field("fingerprint") };
  return {
    strategy,
    limit,
    tokens,
    truncated,
    ...(cut && { cut }),
    ...(cache && { cache }),
    minimumRecentNodesMet: packed.number() === 1,
    pathLength: packed.number(),
    preferences: {
      truncationStrategy: STRATEGIES[packed.number()]!,
      minimumRecentNodes: packed.number(),
      tokenBuffer: packed.number(),
      truncationMarker: packed.thing() as string,
      cutQuantum: packed.number(),
      startOn: STARTS[packed.number()]!,
    },
    diagnostics: (packed.thing() as Diagnostic[] | undefined) ?? [],
  };
}

/** A dialogue, made of what came and what was kept. What is kept goes on to this dialogue once all of it is there. */
export function unpackDialogue(kept: Kept, answer: unknown): DialogueSummary {
  const [numbers, things] = answer as [Float64Array, unknown[]];
  const packed = new PackedReport(numbers, things);
  const summary = report(packed);
  return { ...dialogue(kept, packed), report: summary };
}

/** The same with the whole account. */
export function unpackAssembly(kept: Kept, answer: unknown): DialogueAssembly {
  const [numbers, things] = answer as [Float64Array, unknown[]];
  const packed = new PackedReport(numbers, things);
  const { cut, pathLength: _, preferences, diagnostics, ...summary } = report(packed);
  const count = packed.number();
  const all = packed.thing() as string;
  const nodes: NodeReport[] = [];
  for (let at = 0, from = 0; at < count; at += 1) {
    const to = from + packed.number();
    const what = packed.number();
    const tokens = packed.number();
    const message = packed.number() - 1;
    nodes.push(row(all.slice(from, to), what, tokens, message));
    from = to;
  }
  const path = ids(packed, nodes);
  const { minimumRecentNodesMet, cache, ...before } = summary;
  const whole: AssemblyReport = {
    ...before,
    ...(cut && {
      cut: {
        nodeIds: ids(packed, nodes),
        partialNodeIds: ids(packed, nodes),
        tokens: cut.tokens,
        position: cut.position,
        ...(cut.marker !== undefined && { marker: cut.marker }),
      },
    }),
    ...(cache && { cache }),
    minimumRecentNodesMet,
    path,
    nodes,
    notOnPath: packed.number(),
    ...packed.field<"localIds", LocalId[]>("localIds"),
    preferences,
    diagnostics,
  };
  return { ...dialogue(kept, packed), report: whole };
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

function ids(packed: PackedReport, nodes: NodeReport[]): string[] {
  const ids: string[] = [];
  for (let runs = packed.number(); runs > 0; runs -= 1) {
    const from = packed.number();
    const count = packed.number();
    if (from < 0) ids.push(packed.thing() as string);
    else for (let at = from; at < from + count; at += 1) ids.push(nodes[at]!.nodeId);
  }
  return ids;
}

function dialogue(kept: Kept, packed: PackedReport): { system?: string; messages: Message[] } {
  const number = packed.number();
  const system = packed.field("system");
  let keep: Kept["messages"] = [];
  const messages: Message[] = [];
  while (packed.at < packed.numbers.length) {
    const from = packed.number();
    const count = packed.number();
    if (from >= 0) {
      const same = kept.messages.slice(from, from + count);
      // Mostly one run is nearly all of it.
      keep = keep.length === 0 ? same : keep.concat(same);
      for (let at = 0; at < same.length; at += 1) messages.push(copy(same[at]!));
      continue;
    }
    const keeps = from > -11;
    const role = ROLES[keeps ? -1 - from : -11 - from]!;
    const content = packed.thing() as Message["content"];
    const nodeIds: string[] = [];
    for (let at = 0; at < count; at += 1) nodeIds.push(packed.thing() as string);
    const message = { role, content, nodeIds, spans: spans(packed, nodeIds) };
    keep.push(keeps ? message : undefined);
    messages.push(keeps ? copy(message) : message);
  }
  kept.number = number;
  kept.messages = keep;
  return { ...system, messages };
}

/** In the form of `put_spans`. They are frozen, so that they need not be copied for each dialogue that has the message. */
function spans(packed: PackedReport, nodeIds: readonly string[]): readonly MessageSpan[] {
  const spans: MessageSpan[] = [];
  for (let count = packed.number(); count > 0; count -= 1) {
    const nodeId = nodeIds[packed.number()]!;
    const part = packed.optional();
    const [start, end] = [packed.number(), packed.number()];
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
