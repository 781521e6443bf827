import { batch, computed, signal } from "@preact/signals";
import { beginContextAssembly, explainTask, finishContextAssembly, parseTask } from "ctxweave/operators";
import type {
  ContextAssembly,
  ContextAssemblyRequest,
  ContextMatchRequest,
  CtxweaveError,
  Diagnostic,
  ExplainedOperator,
  Task,
} from "ctxweave/operators";
import { attempt, type Attempt } from "../../ui/attempt.js";
import { PersistedDocument } from "../../ui/own.js";
import { SAMPLES } from "./samples.js";

export const own = new PersistedDocument<string>("operators");
export const xml = computed(() => own.value.value ?? SAMPLES[0].text);
export const mode = signal<"compat" | "strict">("compat");
export const exclusive = signal(false);
/** The path of the operator whose context is assembled. */
export const chosen = signal("task");

/** The template. An invalid one has no task, and the error among its findings. */
interface Template {
  task?: Task;
  operators: ExplainedOperator[];
  findings: Diagnostic[];
}

export const template = computed<Template>(() => {
  try {
    const { task, diagnostics } = parseTask(xml.value, { mode: mode.value, exclusive: exclusive.value });
    return { task, operators: explainTask(task), findings: diagnostics };
  } catch (error) {
    const { code, message, details } = error as CtxweaveError;
    const { line, column } = details as { line?: number; column?: number };
    const place = line === undefined || column === undefined ? {} : { line, column };
    // The position is shown next to the message.
    const text = message.replace(/ \(line \d+, column \d+\)$/, "");
    const finding = { ...place, code: code as Diagnostic["code"], severity: "error" as const, message: text };
    return { operators: [], findings: [finding] };
  }
});

/** The chosen operator; the root if it no longer exists. */
export const operator = computed<ExplainedOperator | undefined>(() => {
  const { operators } = template.value;
  return operators.find(({ path }) => path === chosen.value) ?? operators[0];
});

/** The output of a step. */
interface Output {
  notes: string;
  output: string;
}

/** The user's context of the parent and outputs of earlier steps. */
export const parentContext = signal("The team has three people. The release is on Friday.");
export const outputs = signal<Record<string, Output>>({});

export const outputOf = (step: string): Output =>
  outputs.value[step] ?? { notes: `Notes of ${step}.`, output: `Output of ${step}.` };

export function changeOutput(step: string, fields: Partial<Output>): void {
  outputs.value = { ...outputs.value, [step]: { ...outputOf(step), ...fields } };
}

/** The steps before the chosen one, and the accumulation of their sequence. */
export const before = computed<{ steps: string[]; accumulation?: ContextAssemblyRequest["accumulation"] }>(() => {
  const [, parent, index] = /^(.*)\.steps\[(\d+)\]$/.exec(operator.value?.path ?? "") ?? [];
  const { operators } = template.value;
  const settings = operators.find(({ path }) => path === parent)?.contextManagement;
  if (!settings) return { steps: [] };
  const siblings = operators.filter(({ path }) => path.replace(/\[\d+\]$/, "") === `${parent}.steps`);
  return {
    steps: siblings.slice(0, Number(index)).map(({ id, path }) => id ?? path),
    accumulation: settings.accumulateData ? (settings.accumulationFormat ?? "notes_only") : "off",
  };
});

export const request = computed<ContextAssemblyRequest | undefined>(() => {
  if (!operator.value) return undefined;
  const { type, role, id, description, contextManagement, origins } = operator.value;
  const { steps, accumulation } = before.value;
  return {
    task: { type, role, contextManagement, origins, id, description },
    parentContext: parentContext.value,
    ...(accumulation && { previousOutputs: steps.map((step) => ({ step, ...outputOf(step) })), accumulation }),
  };
});

/** The first half of the assembly. */
const begun = computed(() => {
  const asked = request.value;
  return asked && attempt(() => beginContextAssembly(asked));
});

/** The question to the memory system, if there is one. */
export const question = computed<ContextMatchRequest | undefined>(() =>
  begun.value?.ok && begun.value.value.status === "match" ? begun.value.value : undefined,
);

/** The user's answer as the memory system. */
export const answer = signal("Last week's report was too long.");
export const matches = signal("reports/last-week.md\nteam.md");
/** The last answered question, with its result: a question that changed since is open again. */
const answered = signal<{ question: string; result: Attempt<ContextAssembly> } | undefined>(undefined);

/** The context, or why it cannot be assembled; undefined until the question is answered. */
export const result = computed<Attempt<ContextAssembly> | undefined>(() => {
  const now = begun.value;
  if (!now?.ok) return now;
  if (now.value.status === "ready") return { ok: true, value: now.value.result };
  return answered.value?.question === JSON.stringify(now.value) ? answered.value.result : undefined;
});

/** The answer in the package's format. */
export function memoryAnswer(): { context: string; matches: [path: string, score: null][] } {
  const paths = matches.value.split("\n").map((line) => line.trim());
  return { context: answer.value, matches: paths.filter(Boolean).map((path) => [path, null]) };
}

/** Answers a question. */
export function giveAnswer(to: ContextMatchRequest): void {
  answered.value = {
    question: JSON.stringify(to),
    result: attempt(() => finishContextAssembly(to.state, memoryAnswer())),
  };
}

export async function open(text: string, isOwn: boolean): Promise<void> {
  if (!(await own.offer(text, isOwn))) return;
  batch(() => {
    chosen.value = "task";
    outputs.value = {};
    answered.value = undefined;
  });
}

/** Opens the document of the link, the last template, or the first sample. */
export async function begin(): Promise<void> {
  if (!(await own.begin(String)) && own.value.peek() === undefined) own.show(SAMPLES[0].text, false);
}
