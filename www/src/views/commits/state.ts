import { batch, computed, effect, signal } from "@preact/signals";
import { artifactRef, CommitGraph, importTranscript, materializeWith } from "ctxweave/commits";
import type {
  CommitRecord,
  CtxweaveError,
  Diagnostic,
  MaterializationPlan,
  Materialized,
  TranscriptFormat,
} from "ctxweave/commits";
import sampleUrl from "../../../../examples/sessions/claude-code.jsonl?url";
import { ask } from "../../ui/ask.js";
import { blobOf, forget, keepBlobs, keepSession, lastSession } from "./store.js";

/** A session that is open: its records are in the graph, its blobs in the browser's database. */
export interface OpenSession {
  name: string;
  graph: CommitGraph;
  /** Whether it is the sample, with nothing of one's own. */
  sample: boolean;
  diagnostics: readonly Diagnostic[];
}

export const FORMATS: readonly { value: TranscriptFormat; name: string }[] = [
  { value: "claude-code-v1", name: "Claude Code" },
  { value: "codex-v1", name: "Codex" },
  { value: "gemini-v1", name: "Gemini" },
  { value: "generic-v1", name: "generic" },
  { value: "bureau-agent-v1", name: "Bureau (CBOR)" },
];

export const session = signal<OpenSession | undefined>(undefined);
/** Counts the changes of the graph, which is not a signal itself. */
const changes = signal(0);
export const problem = signal<{ name: string; message: string } | undefined>(undefined);
export const chosen = signal<string | undefined>(undefined);
export const stop = signal<string>("compaction");
/** The format of the result; empty for that of the commit. */
export const format = signal<string>("");
/** What is done where a conversation is wanted in another agent's format. */
export const crossFamily = signal<"render" | "transcode">("render");
export const busy = signal(false);

export const records = computed<CommitRecord[]>(() => {
  void changes.value;
  return session.value?.graph.commits() ?? [];
});

export const record = computed(() => records.value.find(({ id }) => id === chosen.value));

type Attempt<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): Attempt<never> {
  const { code = "error", message } = error as CtxweaveError;
  return { ok: false, code, message };
}

/** What would be materialised, and why. */
export const plan = computed<Attempt<MaterializationPlan> | undefined>(() => {
  const open = session.value;
  const commit = chosen.value;
  void changes.value;
  if (!open || commit === undefined) return undefined;
  return attempt(() =>
    open.graph.planMaterialization({
      commit,
      stop: stop.value,
      ...(format.value ? { format: format.value, crossFamily: crossFamily.value } : {}),
    }),
  );
});

export const result = signal<Attempt<Materialized> | undefined>(undefined);

// What comes of a plan follows the plan; one that was overtaken meanwhile is thrown away.
effect(() => {
  const wanted = plan.value;
  const open = session.value;
  result.value = wanted && !wanted.ok ? wanted : undefined;
  if (!wanted?.ok || !open) return;
  const overtaken = new AbortController();
  materializeWith(open.graph, wanted.value, blobOf, { signal: overtaken.signal }).then(
    (value) => overtaken.signal.aborted || (result.value = { ok: true, value }),
    (error: unknown) => overtaken.signal.aborted || (result.value = failed(error)),
  );
  return () => overtaken.abort();
});

/** Which commit one starts at: the one that was chosen, else the newest tip. */
function startOf(graph: CommitGraph, wanted: string | undefined): string | undefined {
  const tips = graph.tips();
  if (wanted !== undefined && graph.commits().some(({ id }) => id === wanted)) return wanted;
  return [...tips].sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0]?.id;
}

function show({ name, graph, sample, diagnostics }: OpenSession, tip: string | undefined): void {
  const before = session.value?.graph;
  batch(() => {
    session.value = { name, graph, sample, diagnostics };
    changes.value += 1;
    chosen.value = startOf(graph, tip);
    stop.value = "compaction";
    format.value = "";
    problem.value = undefined;
  });
  before?.free();
}

/** Guesses the format by the first line that says something. */
export function guess(name: string, bytes: Uint8Array): TranscriptFormat {
  const start = new TextDecoder().decode(bytes.subarray(0, 4096)).replace(/^\uFEFF/u, "");
  if (/\.cbor$/i.test(name) || bytes.subarray(0, 64).some((byte) => byte === 0)) return "bureau-agent-v1";
  if (/"type":\s*"(session_meta|response_item|turn_context)"/.test(start)) return "codex-v1";
  if (/"(sessionId|parentUuid|leafUuid)":/.test(start) && !/"projectHash":/.test(start)) return "claude-code-v1";
  if (/"projectHash":/.test(start)) return "gemini-v1";
  if (/"record_type":|"type":\s*"(function_call|input_text|output_text)"/.test(start)) return "codex-v0";
  return "generic-v1";
}

/** Imports a session file: blobs and records go to the browser's database, and the graph is drawn. */
async function openBytes(name: string, bytes: Uint8Array<ArrayBuffer>, sample: boolean): Promise<void> {
  busy.value = true;
  const graph = new CommitGraph();
  try {
    if (isLoomTree(bytes)) throw new Error("this is a Loom tree, not a session: open it in the view Loom");
    const imported = importTranscript(guess(name, bytes), bytes, {
      createdAt: new Date(0).toISOString(),
      principal: "page",
    });
    if (!imported.records.some(({ message_count: messages }) => messages !== 0)) {
      throw new Error("there is no conversation in this file");
    }
    for (const record of imported.records) graph.checkpoint(record);
    if (!(await mayReplace())) {
      graph.free();
      return;
    }
    await keepBlobs(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes] as const));
    show({ name, graph, sample, diagnostics: imported.diagnostics }, imported.tip);
    await keep();
  } catch (error) {
    if (session.peek()?.graph !== graph) graph.free();
    problem.value = { name, message: (error as Error).message };
  } finally {
    busy.value = false;
  }
}

/** A tree opened as a session would be one without a message. */
function isLoomTree(bytes: Uint8Array): boolean {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as { tree?: object } | null;
    const tree = (value?.tree ?? value) as { nodes?: unknown; edges?: unknown } | null;
    return Array.isArray(tree?.nodes) && Array.isArray(tree.edges);
  } catch {
    return false;
  }
}

/** Keeps what is open, and where one is in it. */
async function keep(): Promise<void> {
  const open = session.peek();
  if (!open) return;
  const { name, graph, sample, diagnostics } = open;
  const at = chosen.peek();
  await keepSession({
    name,
    records: graph.exportJsonl(),
    sample,
    diagnostics,
    ...(at === undefined ? {} : { chosen: at }),
  });
}

/** Chooses a commit, also for the next visit. */
export function choose(id: string): void {
  chosen.value = id;
  keep().catch((error: unknown) => {
    problem.value = { name: "this browser", message: (error as Error).message };
  });
}

/** What is one's own is replaced only when that was agreed to. */
async function mayReplace(): Promise<boolean> {
  const open = session.peek();
  return (
    !open ||
    open.sample ||
    ask(`${open.name} is yours. Replace it? It is kept nowhere else in this browser.`, "Replace it")
  );
}

export async function openFile(file: File): Promise<void> {
  await openBytes(file.name, new Uint8Array(await file.arrayBuffer()), false);
}

export async function openSample(): Promise<void> {
  const name = "claude-code.jsonl";
  try {
    const response = await fetch(sampleUrl);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    await openBytes(name, new Uint8Array(await response.arrayBuffer()), true);
  } catch (error) {
    problem.value = { name, message: `the sample could not be fetched: ${(error as Error).message}` };
  }
}

/** What was open when the page was left, else the sample. */
export async function begin(): Promise<void> {
  if (session.value) return;
  try {
    const last = await lastSession();
    if (last) {
      const graph = new CommitGraph();
      const { diagnostics } = graph.importJsonl(last.records as Uint8Array<ArrayBuffer>);
      const { name, sample } = last;
      show({ name, graph, sample, diagnostics: [...last.diagnostics, ...diagnostics] }, last.chosen);
      return;
    }
  } catch (error) {
    problem.value = { name: "this browser", message: (error as Error).message };
  }
  await openSample();
}

export async function startOver(): Promise<void> {
  if (!(await mayReplace())) return;
  await forget();
  session.value = session.value && { ...session.value, sample: true };
  await openSample();
}

/** A branch from the chosen commit: one message, in the format of what it goes on from. */
export async function fork(text: string): Promise<void> {
  const open = session.value;
  const from = record.value;
  if (!open || !from || text.trim() === "") return;
  const now = new Date().toISOString();
  const blob = new TextEncoder().encode(`${JSON.stringify(messageIn(from, text.trim(), now))}\n`);
  const ref = artifactRef(blob);
  try {
    await keepBlobs([[ref, blob]]);
    const { id } = open.graph.checkpoint({
      parent: from.id,
      commit_type: "delta",
      artifact_ref: ref,
      format: from.format === "bureau-agent-v1" ? "generic-v1" : from.format,
      principal: "page",
      checkpoint: "explicit",
      summary: text.trim(),
      message_count: 1,
      created_at: now,
    });
    batch(() => {
      session.value = { ...open, sample: false };
      changes.value += 1;
      chosen.value = id;
    });
    await keep();
  } catch (error) {
    problem.value = { name: "The fork", message: (error as Error).message };
  }
}

/** One message of the user in a format; what it hangs on in a Claude Code session is the record before it. */
function messageIn({ format, id }: CommitRecord, text: string, timestamp: string): Record<string, unknown> {
  switch (format) {
    case "claude-code-v1":
      return {
        type: "user",
        uuid: crypto.randomUUID(),
        parentUuid: `fork-of-${id}`,
        isSidechain: false,
        timestamp,
        message: { role: "user", content: text },
      };
    case "codex-v1":
      return {
        timestamp,
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
      };
    case "codex-v0":
      return { type: "message", role: "user", content: [{ type: "input_text", text }] };
    case "gemini-v1":
      return { id: crypto.randomUUID(), timestamp, type: "user", content: text };
    default:
      return { role: "user", content: text };
  }
}
