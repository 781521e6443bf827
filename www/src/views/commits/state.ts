import { batch, computed, effect, signal } from "@preact/signals";
import { transcriptToMessages } from "ctxweave/commits";
import type { MaterializationRequest, Materialized } from "ctxweave/commits";
import sampleUrl from "../../../../examples/sessions/claude-code.jsonl?url";
import { keepAddress, linkParams, paramsOf, wordIn } from "../../shell/route.js";
import { attempt, type Attempt } from "../../ui/attempt.js";
import { PersistedDocument } from "../../ui/own.js";
import { forkFrom, importOf, opened, sessionOf, type Session } from "./session.js";
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

export const session = computed(() => own.value.value && opened(own.value.value));

// A graph occupies the module's memory until it is freed.
effect(() => {
  const open = session.value;
  return () => open?.graph.free();
});

export const timeline = computed(() => (session.value ? timelineOf(session.value) : []));

const has = (id: string | undefined): id is string => id !== undefined && session.value?.records.has(id) === true;

export const chosen = computed(() => {
  if (has(wanted.value)) return wanted.value;
  return session.value?.imported.tip ?? timeline.value.at(-1)?.record.id;
});

export const record = computed(() => session.value?.records.get(chosen.value ?? ""));

/**
 * Number of commits above which materialization is delayed: while the user moves through a long session only the last
 * commit is materialized.
 */
const LONG = 500;
/** Milliseconds of the delay. */
const PAUSE = 120;

/** The materialized commit: the chosen one, after the delay. */
export const settled = signal<string | undefined>(undefined);

effect(() => {
  const id = chosen.value;
  if (!has(settled.peek()) || timeline.value.length < LONG) {
    settled.value = id;
    return undefined;
  }
  const timer = setTimeout(() => (settled.value = id), PAUSE);
  return () => clearTimeout(timer);
});

/** The materialization of a commit with the chosen settings. */
export const requestFor = (commit: string): MaterializationRequest => ({
  commit,
  stop: stop.value,
  ...(format.value ? { format: format.value, crossFamily: crossFamily.value } : {}),
});

/** The plan of the materialization. */
const plan = computed(() => {
  const open = session.value;
  const commit = settled.value;
  if (!open || !has(commit)) return undefined;
  return attempt(() => open.graph.planMaterialization(requestFor(commit)));
});

/** The commits of the plan. */
export const steps = computed(() => (plan.value?.ok ? plan.value.value.steps : []));

export const result = computed<Attempt<Materialized> | undefined>(() => {
  const planned = plan.value;
  const open = session.value;
  if (!planned?.ok) return planned;
  return open && attempt(() => open.graph.materialize(planned.value, open.blobs));
});

/** The result, read as a system context and messages. */
export const conversation = computed(() => {
  const made = result.value;
  if (!made?.ok) return undefined;
  const { format, bytes } = made.value;
  const throughCompactions = stop.value === "root";
  return attempt(() => transcriptToMessages(format, bytes, { throughCompactions }));
});

export function choose(id: string): void {
  wanted.value = id;
}

/** Opens a session, unless the user keeps the present one. */
async function open(name: string, load: () => Promise<ArrayBuffer>, isOwn: boolean): Promise<void> {
  busy.value = true;
  try {
    const loaded = { name, file: new Uint8Array(await load()), forks: [] };
    importOf(loaded);
    if (!(await own.mayReplace())) return;
    batch(() => {
      problem.value = undefined;
      // Choices in the previous session do not apply to this one.
      wanted.value = undefined;
      stop.value = DEFAULTS.stop;
      format.value = DEFAULTS.as;
      own.show(loaded, isOwn);
    });
  } catch (error) {
    problem.value = { name, message: (error as Error).message };
  } finally {
    busy.value = false;
  }
}

export const openFile = (file: File): Promise<void> => open(file.name, () => file.arrayBuffer(), true);

export const openSample = (): Promise<void> => open("claude-code.jsonl", fetchSample, false);

async function fetchSample(): Promise<ArrayBuffer> {
  const response = await fetch(sampleUrl);
  if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
  return response.arrayBuffer();
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
  if (!(await own.begin(sessionOf)) && own.value.peek() === undefined) await openSample();
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
  batch(() => {
    own.edit({ ...now, forks: [...now.forks, forkFrom(from, text.trim())] });
    wanted.value = [...(session.value?.records.keys() ?? [])].at(-1);
  });
}
