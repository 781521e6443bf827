import { batch, computed, signal } from "@preact/signals";
import { beginContextAssembly, explainTask, finishContextAssembly, parseTask } from "ctxweave/operators";
import type {
  BegunContextAssembly,
  ContextAssembly,
  ContextAssemblyRequest,
  CtxweaveError,
  Diagnostic,
  ExplainedOperator,
  StepOutput,
  Task,
} from "ctxweave/operators";
import { extentAt, offsetOf, type Underline } from "./findings.js";
import { PersistedDocument } from "../../ui/own.js";
import { SAMPLES } from "./samples.js";

export const own = new PersistedDocument<string>("operators");
export const xml = computed(() => own.value.value ?? SAMPLES[0].text);
export const strict = signal(false);
export const exclusive = signal(false);
/** The path of the operator whose context is assembled. */
export const chosen = signal("task");

export type Parsed =
  | { kind: "task"; task: Task; diagnostics: Diagnostic[]; operators: ExplainedOperator[] }
  | { kind: "error"; error: CtxweaveError };

export const parsed = computed<Parsed>(() => {
  try {
    const { task, diagnostics } = parseTask(xml.value, {
      mode: strict.value ? "strict" : "compat",
      exclusive: exclusive.value,
    });
    return { kind: "task", task, diagnostics, operators: explainTask(task) };
  } catch (error) {
    return { kind: "error", error: error as CtxweaveError };
  }
});

/** The list below the editor: the diagnostics, or the reason why the template has no task. */
export const findings = computed<Pick<Diagnostic, "code" | "severity" | "message" | "line" | "column">[]>(() => {
  const now = parsed.value;
  if (now.kind === "task") return now.diagnostics;
  const { code, message, details } = now.error;
  const place = { line: details["line"], column: details["column"] };
  const known = typeof place.line === "number" && typeof place.column === "number";
  // The position is shown next to the message.
  const said = message.replace(/ \(line \d+, column \d+\)$/, "");
  const found = { code: code as Diagnostic["code"], severity: "error" as const, message: said };
  return [known ? { ...found, line: place.line as number, column: place.column as number } : found];
});

export const underlines = computed<Underline[]>(() =>
  findings.value.flatMap(({ line, column, severity }) => {
    if (line === undefined || column === undefined) return [];
    const start = offsetOf(xml.value, line, column);
    return [{ start, end: extentAt(xml.value, start), severity }];
  }),
);

/** The chosen operator; the root if it no longer exists. */
export const operator = computed<ExplainedOperator | undefined>(() => {
  const now = parsed.value;
  if (now.kind !== "task") return undefined;
  return now.operators.find(({ path }) => path === chosen.value) ?? now.operators[0];
});

/** The user's context of the parent and outputs of earlier steps. */
export const parentContext = signal("The team has three people. The release is on Friday.");
export const said = signal<Record<string, { notes: string; output: string }>>({});

/** The steps before the chosen one, and the accumulation of their sequence. */
export const before = computed<{ steps: string[]; accumulation: ContextAssemblyRequest["accumulation"] }>(() => {
  const now = parsed.value;
  const at = operator.value;
  const step = at && /^(.*)\.steps\[(\d+)\]$/.exec(at.path);
  if (now.kind !== "task" || !step) return { steps: [], accumulation: undefined };
  const around = now.operators.find(({ path }) => path === step[1]);
  const settings = around?.contextManagement;
  const accumulation = settings?.accumulateData ? (settings.accumulationFormat ?? "notes_only") : "off";
  const siblings = now.operators.filter(({ path }) => path.replace(/\[\d+\]$/, "") === `${step[1]}.steps`);
  const steps = siblings.slice(0, Number(step[2])).map(({ id }, i) => id ?? `step-${i + 1}`);
  return { steps, accumulation };
});

export function saidOf(step: string): { notes: string; output: string } {
  return said.value[step] ?? { notes: `Notes of ${step}.`, output: `Output of ${step}.` };
}

export const request = computed<ContextAssemblyRequest | undefined>(() => {
  const at = operator.value;
  if (!at) return undefined;
  const { type, role, id, description, contextManagement, origins } = at;
  const { steps, accumulation } = before.value;
  const previousOutputs = steps.map((step): StepOutput => ({ step, ...saidOf(step) }));
  return {
    task: {
      type,
      role,
      contextManagement,
      origins,
      ...(id === undefined ? {} : { id }),
      ...(description === undefined ? {} : { description }),
    },
    parentContext: parentContext.value,
    ...(accumulation === undefined ? {} : { previousOutputs, accumulation }),
  };
});

/** The first half of the assembly. */
export const begun = computed<BegunContextAssembly | CtxweaveError | undefined>(() => {
  try {
    return request.value && beginContextAssembly(request.value);
  } catch (error) {
    return error as CtxweaveError;
  }
});

/** The user's answer as the memory system. */
export const answer = signal("Last week's report was too long.");
export const matches = signal("reports/last-week.md\nteam.md");
/** The last answered question, with its result: a question that changed since is open again. */
export const answered = signal<{ question: string; result: ContextAssembly | CtxweaveError } | undefined>(undefined);

/** The answer in the package's format. */
export function given(): { context: string; matches: [path: string, score: null][] } {
  const paths = matches.value.split("\n").map((line) => line.trim());
  return { context: answer.value, matches: paths.filter(Boolean).map((path) => [path, null]) };
}

/** Answers the open question. */
export function giveAnswer(): void {
  const now = begun.value;
  if (!now || !("status" in now) || now.status !== "match") return;
  let result: ContextAssembly | CtxweaveError;
  try {
    result = finishContextAssembly(now.state, given());
  } catch (error) {
    result = error as CtxweaveError;
  }
  answered.value = { question: questionKey(now), result };
}

/** A key that is equal for equal questions. */
export function questionKey(begun: BegunContextAssembly): string {
  return JSON.stringify(begun);
}

export async function open(text: string, isOwn: boolean): Promise<void> {
  if (!(await own.offer(text, isOwn))) return;
  batch(() => {
    chosen.value = "task";
    said.value = {};
    answered.value = undefined;
  });
}

/** Opens the document of the link, the last template, or the first sample. */
export async function begin(): Promise<void> {
  if (!(await own.begin(String)) && own.value.peek() === undefined) own.show(SAMPLES[0].text, false);
}
