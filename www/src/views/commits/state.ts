import { batch, computed, effect, signal } from "@preact/signals";
import { artifactRef, CommitGraph, detectFormat, importTranscript, materializeWith } from "ctxweave";
import type {
  CommitRecord,
  CtxweaveError,
  Diagnostic,
  MaterializationPlan,
  Materialized,
  TranscriptFormat,
} from "ctxweave";
import sampleUrl from "../../../../examples/sessions/claude-code.jsonl?url";
import { blobOf, forget, keepBlobs, keepRecords, lastRecords } from "./store.js";

/** A session that is open: its records are in the graph, its blobs in the browser's database. */
export interface OpenSession {
  name: string;
  graph: CommitGraph;
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
      ...(format.value ? { format: format.value, crossFamily: "render" as const } : {}),
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

function show(name: string, graph: CommitGraph, diagnostics: readonly Diagnostic[], tip: string | undefined): void {
  const before = session.value?.graph;
  batch(() => {
    session.value = { name, graph, diagnostics };
    changes.value += 1;
    chosen.value = tip ?? graph.tips().at(-1)?.id;
    stop.value = "compaction";
    format.value = "";
    problem.value = undefined;
  });
  before?.free();
}

/** Imports a session file: blobs and records go to the browser's database, and the graph is drawn. */
export async function openBytes(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  busy.value = true;
  const graph = new CommitGraph();
  try {
    const imported = importTranscript(detectFormat(bytes) ?? "generic-v1", bytes, {
      createdAt: new Date(0).toISOString(),
      principal: "page",
    });
    if (imported.records.length === 0) throw new Error("there is no conversation in this file");
    for (const record of imported.records) graph.checkpoint(record);
    await keepBlobs(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes.slice()] as const));
    await keepRecords(name, graph.exportJsonl());
    show(name, graph, imported.diagnostics, imported.tip);
  } catch (error) {
    graph.free();
    problem.value = { name, message: (error as Error).message };
  } finally {
    busy.value = false;
  }
}

export async function openFile(file: File): Promise<void> {
  await openBytes(file.name, new Uint8Array(await file.arrayBuffer()));
}

export async function openSample(): Promise<void> {
  const response = await fetch(sampleUrl);
  await openBytes("claude-code.jsonl", new Uint8Array(await response.arrayBuffer()));
}

/** What was open when the page was left, else the sample. */
export async function begin(): Promise<void> {
  if (session.value) return;
  try {
    const last = await lastRecords();
    if (last) {
      const graph = new CommitGraph();
      const { diagnostics } = graph.importJsonl(last.records as Uint8Array<ArrayBuffer>);
      show(last.name, graph, diagnostics, undefined);
      return;
    }
  } catch (error) {
    problem.value = { name: "this browser", message: (error as Error).message };
  }
  await openSample();
}

export async function startOver(): Promise<void> {
  await forget();
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
    await keepRecords(open.name, open.graph.exportJsonl());
    batch(() => {
      changes.value += 1;
      chosen.value = id;
    });
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
