import { batch, computed, effect, signal } from "@preact/signals";
import { transcriptToMessages } from "ctxweave/commits";
import type { MaterializationPlan, Materialized, TranscriptFormat } from "ctxweave/commits";
import sampleUrl from "../../../../examples/sessions/claude-code.jsonl?url";
import { keepAddress, linkParams, paramsOf, wordIn } from "../../shell/route.js";
import { attempt, type Attempt } from "../../ui/attempt.js";
import { PersistedDocument } from "../../ui/own.js";
import { forkFrom, importOf, opened, sessionOf, type OpenSession, type Session } from "./session.js";
import { timelineOf } from "./timeline.js";

/** The open session: its file, and messages added here. */
export const own = new PersistedDocument<Session>("commits");
export const problem = signal<{ name: string; message: string } | undefined>(undefined);
export const busy = signal(false);

/** Written into the address only if changed. */
const DEFAULTS: { commit?: string | undefined; stop: string; as: string; how: string } = {
  stop: "compaction",
  as: "",
  how: "transcode",
};

/** The chosen commit; defaults to the newest of the conversation. */
const wanted = signal<string | undefined>(undefined);
export const stop = signal(DEFAULTS.stop);
/** The format of the result; empty for that of the commit. */
export const format = signal(DEFAULTS.as);
/** How a conversation is converted into another agent's format. */
export const crossFamily = signal<"render" | "transcode">("transcode");

export const session = computed<OpenSession | undefined>(() => {
  const now = own.value.value;
  return now && opened(now);
});

// A graph occupies the module's memory until it is freed.
effect(() => {
  const open = session.value;
  return () => open?.graph.free();
});

export const timeline = computed(() => (session.value ? timelineOf(session.value) : []));

export const chosen = computed<string | undefined>(() => {
  const rows = timeline.value;
  if (rows.some(({ record }) => record.id === wanted.value)) return wanted.value;
  return session.value?.imported.tip ?? rows.at(-1)?.record.id;
});

/**
 * Number of messages above which materialization is delayed: while the user moves through a long session only the last
 * commit is materialized.
 */
const LONG = 500;
const PAUSE = 120;
const settled = signal<string | undefined>(undefined);

effect(() => {
  const id = chosen.value;
  const isThere = session.value?.records.some((one) => one.id === settled.peek());
  if (!isThere || timeline.value.length < LONG) {
    settled.value = id;
    return undefined;
  }
  const timer = setTimeout(() => (settled.value = id), PAUSE);
  return () => clearTimeout(timer);
});

export const record = computed(() => timeline.value.find(({ record: { id } }) => id === chosen.value)?.record);

/** The plan of the materialization. */
export const plan = computed<Attempt<MaterializationPlan> | undefined>(() => {
  const open = session.value;
  const commit = settled.value;
  if (!open || commit === undefined || !open.records.some(({ id }) => id === commit)) return undefined;
  return attempt(() =>
    open.graph.planMaterialization({
      commit,
      stop: stop.value,
      ...(format.value ? { format: format.value, crossFamily: crossFamily.value } : {}),
    }),
  );
});

export const result = computed<Attempt<Materialized> | undefined>(() => {
  const planned = plan.value;
  const open = session.value;
  if (!planned?.ok || !open) return planned && !planned.ok ? planned : undefined;
  return attempt(() => open.graph.materialize(planned.value, open.blobs));
});

/** The result, read as a system context and messages. */
export const conversation = computed(() => {
  const made = result.value;
  if (!made?.ok) return undefined;
  const { format, bytes } = made.value;
  const throughCompactions = stop.value === "root";
  return attempt(() => transcriptToMessages(format as TranscriptFormat, bytes, { throughCompactions }));
});

export function choose(id: string): void {
  wanted.value = id;
}

/** Choices in the previous session do not apply to this one. */
function startAnew(): void {
  wanted.value = undefined;
  stop.value = DEFAULTS.stop;
  format.value = DEFAULTS.as;
}

async function open(session: Session, isOwn: boolean): Promise<void> {
  try {
    importOf(session);
  } catch (error) {
    problem.value = { name: session.name, message: (error as Error).message };
    return;
  }
  if (!(await own.mayReplace())) return;
  batch(() => {
    problem.value = undefined;
    startAnew();
    own.show(session, isOwn);
  });
}

/** Runs an action that takes a while, with a status. */
async function whileBusy(action: () => Promise<void>): Promise<void> {
  busy.value = true;
  try {
    await action();
  } finally {
    busy.value = false;
  }
}

export function openFile(file: File): Promise<void> {
  return whileBusy(async () => {
    await open({ name: file.name, file: new Uint8Array(await file.arrayBuffer()), forks: [] }, true);
  });
}

export function openSample(): Promise<void> {
  const name = "claude-code.jsonl";
  return whileBusy(async () => {
    let bytes: ArrayBuffer;
    try {
      const response = await fetch(sampleUrl);
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      bytes = await response.arrayBuffer();
    } catch (error) {
      problem.value = { name, message: `the sample could not be fetched: ${(error as Error).message}` };
      return;
    }
    await open({ name, file: new Uint8Array(bytes), forks: [] }, false);
  });
}

/** Opens the document of the link, the last session, or the sample. */
export async function begin(): Promise<void> {
  const params = linkParams("commits");
  batch(() => {
    wanted.value = params.get("commit") ?? undefined;
    stop.value = params.get("stop") ?? DEFAULTS.stop;
    format.value = params.get("as") ?? DEFAULTS.as;
    crossFamily.value = wordIn(params, "how", ["render"]) ?? "transcode";
  });
  const there = (await own.begin(sessionOf)) || own.value.peek() !== undefined;
  if (!there) await openSample();
}

/** Writes the choices into the address; returns a function that stops it. */
export const follow = (): (() => void) =>
  keepAddress("commits", () =>
    paramsOf({ commit: wanted.value, stop: stop.value, as: format.value, how: crossFamily.value }, DEFAULTS),
  );

/** Adds a branch after the chosen commit: one message, in its format. */
export function fork(text: string): void {
  const from = record.value;
  const now = own.value.peek();
  if (!from || !now || text.trim() === "") return;
  const next = { ...now, forks: [...now.forks, forkFrom(from, text.trim())] };
  batch(() => {
    own.edit(next);
    wanted.value = session.value?.records.at(-1)?.id;
  });
}
