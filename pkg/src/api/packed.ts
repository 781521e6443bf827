/** Decodes the responses of src/loom/packed.rs, which documents their layout. */

import { decoderOf } from "../coders.js";
import type { Diagnostic, FitPrefix, FitState, ReadonlyData } from "../types/common.js";
import type {
  AssemblyReport,
  DialogueAssembly,
  LocalId,
  LoomNode,
  Message,
  MessageSpan,
  NodeContent,
  NodeReport,
} from "../types/loom.js";
import type { DialogueSummary, ReportSummary } from "../types/resident.js";

/** The messages of the last dialogue, which the next response may refer to. */
export interface KeptMessages {
  /** Number of that dialogue; 0 before the first. */
  number: number;
  /** Text and ids; undefined for a message that is sent each time. Only their frozen spans are shared with callers. */
  messages: (Message | undefined)[];
}

const STRATEGIES = ["truncateMiddle", "rollingWindow", "stopAtLimit"] as const;
const STARTS = ["any", "user"] as const;
const FILLS = ["all", "results", "off"] as const;

/** The protected messages, one bit each. */
function protectedMessages(bits: number): ("firstUser" | "lastUser")[] {
  return (["firstUser", "lastUser"] as const).filter((_, at) => (bits >> at) & 1);
}
const ROLES = ["system", "developer", "user", "assistant"] as const;

/** A cursor over the numbers and the list next to them. */
class Packed {
  at = 0;
  readonly numbers: ArrayLike<number>;
  /** The ids of rows, concatenated. */
  readonly ids: string;
  readonly #values: unknown[];
  #value = 2;

  /** The state for the next dialogue of a series. */
  state?: FitState;

  /** The nodes that positions refer to, if nodes are given as positions. */
  nodes?: ReadonlyData<LoomNode[]>;

  constructor(answer: unknown) {
    const [json, numbers, ids] = (typeof answer === "string" ? [answer] : answer) as [string, ...Uint8Array[]];
    this.#values = JSON.parse(json) as unknown[];
    if (numbers && ids) {
      this.numbers = new Float64Array(numbers.buffer, numbers.byteOffset, numbers.byteLength / 8);
      this.ids = decoderOf("utf-8").decode(ids);
    } else {
      [this.numbers, this.ids] = this.#values as [number[], string];
    }
  }

  number(): number {
    return this.numbers[this.at++] as number;
  }

  /** Reads a number; −1 means that it and the fields that depend on it are absent. */
  optional(): number | undefined {
    const number = this.number();
    return number < 0 ? undefined : number;
  }

  value(): unknown {
    return this.#values[this.#value++] ?? undefined;
  }
}

/** Decodes a report of numbers, in a series with the state for the next dialogue. */
export function unpackReport(answer: unknown): { report: ReportSummary; state?: FitState } {
  const packed = new Packed(answer);
  return { report: report(packed), ...(packed.state && { state: packed.state }) };
}

function report(packed: Packed): ReportSummary {
  const strategy = STRATEGIES[packed.number()]!;
  const limit = packed.number();
  const tokens: ReportSummary["tokens"] = {
    system: packed.number(),
    messages: packed.number(),
    overhead: packed.number(),
    total: packed.number(),
    tokenizer: packed.value() as string,
  };
  const tokenizerError = packed.optional();
  if (tokenizerError !== undefined) tokens.tokenizerError = tokenizerError;
  const addendum = packed.optional();
  if (addendum !== undefined) {
    tokens.loomAware = {
      addendum,
      memory: packed.number(),
      headers: packed.number(),
      loomBlock: packed.number(),
    };
  }
  // Fields in wire order; two are optional.
  const report = { strategy, limit, tokens, truncated: packed.number() === 1 } as ReportSummary;
  const nodes = packed.optional();
  if (nodes !== undefined) {
    const cut = { nodes, partialNodes: packed.number(), tokens: packed.number(), position: packed.number() };
    const marker = packed.value() as string | undefined;
    report.cut = marker === undefined ? cut : { ...cut, marker };
  }
  if (packed.optional() !== undefined) {
    report.prefix = packed.value() as FitPrefix;
    packed.state = packed.value() as FitState;
  }
  const flags = packed.number();
  report.minimumRecentNodesMet = (flags & 1) === 1;
  report.pathLength = packed.number();
  report.preferences = {
    truncationStrategy: STRATEGIES[packed.number()]!,
    minimumRecentNodes: packed.number(),
    tokenBuffer: packed.number(),
    truncationMarker: packed.value() as string,
    cutStep: packed.number(),
    startOn: STARTS[packed.number()]!,
    protect: protectedMessages(packed.number()),
    fill: FILLS[packed.number()]!,
  };
  report.diagnostics = packed.value() as Diagnostic[];
  const [body, headers] = [packed.value(), packed.value()] as [ReportSummary["body"], ReportSummary["headers"]];
  if (body) report.body = body;
  if (headers) report.headers = headers;
  return report;
}

/** Decodes a dialogue, using the kept messages, which are updated once it is complete. */
export function unpackDialogue(answer: unknown, kept: KeptMessages): DialogueSummary {
  const packed = new Packed(answer);
  const summary = report(packed);
  return dialogue(packed, kept, summary);
}

/** The same with the whole report; or with texts from the nodes of the caller's tree. */
export function unpackAssembly(answer: unknown, from: KeptMessages | ReadonlyData<LoomNode[]>): DialogueAssembly {
  const packed = new Packed(answer);
  const {
    cut,
    prefix,
    minimumRecentNodesMet,
    pathLength: _,
    preferences,
    diagnostics,
    body,
    headers,
    ...first
  } = report(packed);
  const kept = "number" in from ? from : { number: 0, messages: [] };
  const own = packed.number() === 1 ? (from as ReadonlyData<LoomNode[]>) : undefined;
  if (own) packed.nodes = own;
  const count = packed.number();
  const nodes: NodeReport[] = [];
  for (let at = 0, from = 0; at < count; at += 1) {
    const first = packed.number();
    const id = own ? own[first]!.id : packed.ids.slice(from, (from += first));
    const what = packed.number();
    const tokens = packed.number();
    const tokensAfter = ((what >> 3) & 7) === CHANGED ? packed.number() : undefined;
    const message = packed.number() - 1;
    nodes.push(row(id, what, tokens, tokensAfter, message));
  }
  const path = ids(packed, nodes);
  const whole = first as AssemblyReport;
  if (cut) {
    const { marker, tokens, position } = cut;
    const [nodeIds, partialNodeIds] = [ids(packed, nodes), ids(packed, nodes)];
    whole.cut = { nodeIds, partialNodeIds, tokens, position, ...(marker !== undefined && { marker }) };
  }
  if (prefix) whole.prefix = prefix;
  whole.minimumRecentNodesMet = minimumRecentNodesMet;
  whole.path = path;
  whole.nodes = nodes;
  whole.notOnPath = packed.number();
  const localIds = packed.value() as LocalId[] | undefined;
  if (localIds) whole.localIds = localIds;
  whole.preferences = preferences;
  whole.diagnostics = diagnostics;
  if (body) whole.body = body;
  if (headers) whole.headers = headers;
  return dialogue(packed, kept, whole);
}

const PARTS = ["path", "context", "instruction", "annotation", "version", "pinned"] as const;
const FATES = ["kept", "changed", "cut", "excluded", "skipped"] as const;
const CHANGED = 1;
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
  "compacted",
] as const;

function row(
  nodeId: string,
  what: number,
  tokens: number,
  tokensAfter: number | undefined,
  message: number,
): NodeReport {
  const as = PARTS[what & 7]!;
  const fate = FATES[(what >> 3) & 7]!;
  const pinned = ((what >> 6) & 1) === 1;
  const reason = REASONS[what >> 7];
  // Fast path for the shapes of most rows.
  if (reason === undefined && message >= 0 && !pinned) return { nodeId, as, fate, tokens, message };
  if (reason !== undefined && message < 0 && !pinned) return { nodeId, as, fate, reason, tokens };
  return {
    nodeId,
    as,
    fate,
    ...(reason !== undefined && { reason }),
    tokens,
    ...(tokensAfter !== undefined && { tokensAfter }),
    ...(message >= 0 && { message }),
    ...(pinned && { pinned }),
  };
}

function ids(packed: Packed, nodes: NodeReport[]): string[] {
  const ids: string[] = [];
  for (let runs = packed.number(); runs > 0; runs -= 1) {
    const from = packed.number();
    const count = packed.number();
    if (from < 0) ids.push(packed.value() as string);
    else for (let at = from; at < from + count; at += 1) ids.push(nodes[at]!.nodeId);
  }
  return ids;
}

interface Dialogue<R> {
  system?: string;
  messages: Message[];
  report: R;
  state?: FitState;
}

function dialogue<R>(packed: Packed, kept: KeptMessages, report: R): Dialogue<R> {
  const number = packed.number();
  const system = packed.value() as string | undefined;
  let keep: KeptMessages["messages"] = [];
  const messages: Message[] = [];
  while (packed.at < packed.numbers.length) {
    const from = packed.number();
    const count = packed.number();
    if (from >= 0) {
      const same = kept.messages.slice(from, from + count);
      // Usually one run covers almost all messages.
      keep = keep.length === 0 ? same : keep.concat(same);
      for (let at = 0; at < same.length; at += 1) messages.push(copy(same[at]!));
      continue;
    }
    const keeps = from > -11;
    const role = ROLES[keeps ? -1 - from : -11 - from]!;
    const nodeIds: string[] = [];
    for (let at = 0; at < count; at += 1) {
      nodeIds.push(packed.nodes ? packed.nodes[packed.number()]!.id : (packed.value() as string));
    }
    const message = { role, content: content(packed), nodeIds, spans: spans(packed, nodeIds, keeps) };
    keep.push(keeps ? message : undefined);
    messages.push(keeps ? copy(message) : message);
  }
  kept.number = number;
  kept.messages = keep;
  const state = packed.state && { state: packed.state };
  return system === undefined ? { messages, report, ...state } : { system, messages, report, ...state };
}

/** Reads a content: a value, or concatenated texts; those of nodes are the caller's strings. */
function content(packed: Packed): Message["content"] {
  let pieces = packed.number();
  if (pieces === 0) return packed.value() as Message["content"];
  let text = "";
  for (; pieces > 0; pieces -= 1) {
    const node = packed.optional();
    text += node === undefined ? (packed.value() as string) : textOf(packed.nodes![node]!.content);
  }
  return text;
}

/**
 * The text of a node whose content is a single text, possibly nested in lists of blocks with empty texts next to it.
 */
function textOf(content: ReadonlyData<NodeContent>): string {
  if (typeof content === "string") return content;
  if (content.type === "mixed") return content.blocks.map(textOf).join("");
  return (content as { text: string }).text;
}

/** Spans of a kept message are frozen, so that dialogues can share them. */
function spans(packed: Packed, nodeIds: readonly string[], freeze: boolean): readonly MessageSpan[] {
  const spans: MessageSpan[] = [];
  for (let count = packed.number(); count > 0; count -= 1) {
    const nodeId = nodeIds[packed.number()]!;
    const part = packed.optional();
    const [start, end] = [packed.number(), packed.number()];
    const span = part === undefined ? { nodeId, start, end } : { nodeId, part, start, end };
    spans.push(freeze ? Object.freeze(span) : span);
  }
  return freeze ? Object.freeze(spans) : spans;
}

/**
 * A message for the caller, whose changes must not reach the kept one. The text is immutable and the spans are frozen.
 */
function copy({ role, content, nodeIds, spans }: Message): Message {
  return { role, content, nodeIds: nodeIds.length === 1 ? [nodeIds[0]!] : nodeIds.slice(), spans };
}
