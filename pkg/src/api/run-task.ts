/** Runs a whole task: its contexts by the memory system, its steps by the model. */

import { CtxweaveError } from "../error.js";
import { guarded, reasonOf } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import type {
  ContextAssembly,
  ModelCall,
  Run,
  RunInput,
  RunNext,
  RunTaskOptions,
  StepFailure,
  TaskEvent,
  TaskInputs,
  TaskOutcome,
  TaskOutput,
  TaskPlace,
  TaskRun,
  TaskSubject,
} from "../types/operators.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { checkedFunction, checkedObject, checkedOptions, invalid } from "./checked.js";
import { assembleContextForTask, nextRequests, recordResult, startRun } from "./operators.js";

const OPTIONS = [
  "memory",
  "model",
  "signal",
  "onEvent",
  "concurrency",
  "inputs",
  "warnTokens",
  "maxTokens",
  "budget",
  "tokenizer",
] as const;

/** Failures of an assembly that fail its step. Any other error is a mistake of the caller. */
const ASSEMBLY_FAILURES = ["context_retrieval_failure", "context_too_long"];

/** A request that a part of a run answers. */
type Request = Extract<RunNext, { request: unknown }>;
type Result = { output: string; notes?: string } | { failure: StepFailure };

/** A run under way, with the runs of its nested tasks. Each `run` is plain data that is replaced, never changed. */
interface Node {
  run: Run;
  subject: TaskSubject;
  nested: Map<string, Node>;
}

/**
 * Runs a task of any type, with all nested sequences and reductions. A failed step ends the run: the result has the
 * completed results of every level.
 *
 * @param input a task, or the run of an event, to continue it
 * @throws {CtxweaveError} `invalid_input` for answers of the wrong shape; the signal's reason when it is aborted, and
 *   what `onEvent` and `inputs` throw
 */
export async function runTask(input: ReadonlyData<RunInput> | TaskRun, options: RunTaskOptions): Promise<TaskOutcome> {
  const checked = checkedOptions(options, OPTIONS);
  checkedSignal(checked.signal);
  for (const name of ["memory", "model"] as const) {
    if (typeof checked[name] !== "function") throw invalid(`options.${name}`, "a function");
  }
  for (const name of ["onEvent", "inputs"] as const) checkedFunction(checked[name], `options.${name}`);
  const { concurrency = 1 } = checked;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw invalid("options.concurrency", "a whole number of 1 or more");
  checkedObject(input, "input");
  const isContinued = guarded("input", () => "run" in input);
  const root = isContinued
    ? guarded("input", () => restored(input as TaskRun))
    : nodeOf(startRun(input as RunInput), {});
  const driver = new TaskDriver(root, { ...checked, concurrency });
  try {
    return await driver.drive();
  } finally {
    driver.stop();
  }
}

class TaskDriver {
  #isStopped = false;

  constructor(
    private readonly root: Node,
    private readonly options: RunTaskOptions & { concurrency: number },
  ) {}

  /** Parts that are still under way after an error start nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  async drive(): Promise<TaskOutcome> {
    const { root } = this;
    const place: TaskPlace = { path: "task", role: "task", task: root.run.task };
    // An atomic task is its own step.
    const isStep = !isComposite(root.run.task);
    if (!isStep && root.run.context === undefined) await this.emit({ type: "started", ...place });
    const done = await this.finish(root, "task");
    const run = stored(root);
    if (done.status === "failed") {
      const { message, reason } = done.failure;
      if (!isStep) await this.emit({ type: "failed", ...place, failure: { message, reason, cause: done.failure } });
      return { status: "failed", failure: done.failure, run };
    }
    const { output = "", notes, outputs } = done;
    const said = { output, ...(notes !== undefined && { notes }) };
    if (!isStep) await this.emit({ type: "finished", ...place, ...said });
    return { status: "done", ...said, outputs, run };
  }

  /** Runs a node to its end. */
  private async finish(node: Node, path: string): Promise<Extract<RunNext, { status: "done" | "failed" }>> {
    const active = new Map<string, Promise<void>>();
    let failure: (StepFailure & { index?: number }) | undefined;
    for (;;) {
      // After a failure nothing begins, and what is under way is completed: its results are kept.
      if (failure && active.size === 0) node.run = recordResult(node.run, { error: failure });
      const requests = nextRequests(node.run, this.options.concurrency);
      const [first] = requests;
      if (first?.status === "done" || first?.status === "failed") return first;
      for (const request of failure ? [] : (requests as Request[])) {
        const key = keyOf(request);
        if (active.has(key) || active.size >= this.options.concurrency) continue;
        const part = this.part(node, path, key, request).then((failed) => {
          active.delete(key);
          if (failed) failure ??= { ...failed, ...(request.status === "inner" && { index: request.index }) };
        });
        active.set(key, part);
      }
      await Promise.race(active.values());
    }
  }

  /** Does what one request asks for and records it; returns the failure, if any. */
  private async part(node: Node, path: string, key: string, request: Request): Promise<StepFailure | undefined> {
    const place = placeOf(path, node.run, request);
    const isOwnContext = request.status === "context";
    const isContinued = node.nested.has(key);
    if (!isOwnContext && !isContinued) await this.emit({ type: "started", ...place });
    const context = isContinued ? undefined : await this.context(request);
    if (context && "failure" in context) return this.failed(place, context.failure, isOwnContext);
    if (context) await this.emit({ type: "context", ...place, context });
    if (context && isOwnContext) {
      node.run = recordResult(node.run, { context: context.context });
      return undefined;
    }
    const subject = subjectOf(request, node.subject);
    if (context && isComposite(request.request.task)) {
      node.nested.set(key, await this.nested(node, place, request, context, subject));
    }
    const nested = node.nested.get(key);
    const result = nested ? await this.nestedResult(nested, place.path) : await this.ask(place, subject, context);
    if ("failure" in result) return this.failed(place, result.failure);
    node.run = recordResult(node.run, { ...result, ...(request.status === "inner" && { index: request.index }) });
    node.nested.delete(key);
    await this.emit({ type: "finished", ...place, ...result });
    return undefined;
  }

  private async failed(place: TaskPlace, failure: StepFailure, isSilent = false): Promise<StepFailure> {
    if (!isSilent) await this.emit({ type: "failed", ...place, failure });
    return failure;
  }

  private async context({ request }: Request): Promise<ContextAssembly | { failure: StepFailure }> {
    const { memory, signal, warnTokens, maxTokens, budget, tokenizer } = this.options;
    const sizes = Object.entries({ warnTokens, maxTokens, budget, tokenizer }).filter(([, size]) => size !== undefined);
    try {
      return await assembleContextForTask(
        { ...request, ...Object.fromEntries(sizes) },
        memory,
        signal ? { signal } : {},
      );
    } catch (thrown) {
      checkedSignal(signal);
      if (!(thrown instanceof CtxweaveError) || !ASSEMBLY_FAILURES.includes(thrown.code)) throw thrown;
      return { failure: { message: thrown.message, reason: thrown.code } };
    }
  }

  /** Begins the run of a nested task. Its own context is that of the request. */
  private async nested(
    { run }: Node,
    place: TaskPlace,
    request: Request,
    context: ContextAssembly,
    subject: TaskSubject,
  ): Promise<Node> {
    const { task, parentContext } = request.request;
    const isReduce = task.type === "reduce";
    const { inputs: ask } = this.options;
    const given = isReduce ? defaultInputs(run, request, subject) : [];
    const about = { ...place, ...subject, context, inputs: given };
    const inputs = isReduce && ask ? await raceAbort(ask(about), this.options.signal) : given;
    const begun = startRun({
      task,
      ...(parentContext !== undefined && { parentContext }),
      ...(run.headings && { headings: run.headings }),
      ...(run.reduction && { reduction: run.reduction }),
      ...(isReduce && { inputs }),
    });
    return nodeOf(recordResult(begun, { context: context.context }), subject);
  }

  private async nestedResult(node: Node, path: string): Promise<Result> {
    const done = await this.finish(node, path);
    if (done.status === "failed") return { failure: { message: done.failure.message, cause: done.failure } };
    return { output: done.output ?? "", ...(done.notes !== undefined && { notes: done.notes }) };
  }

  /** Calls the model. */
  private async ask(place: TaskPlace, subject: TaskSubject, context: ContextAssembly | undefined): Promise<Result> {
    const { model, signal } = this.options;
    const call = { ...place, ...subject, context } as ModelCall;
    let answer: string | TaskOutput;
    try {
      answer = await raceAbort(model(call, signal ? { signal } : {}), signal);
    } catch (thrown) {
      checkedSignal(signal);
      const reason = thrown instanceof CtxweaveError ? thrown.code : undefined;
      return { failure: { message: reasonOf(thrown), ...(reason !== undefined && { reason }) } };
    }
    const said = typeof answer === "string" ? { output: answer } : answer;
    if (typeof said?.output !== "string")
      throw invalid("options.model", "a function that returns a text or `{ output, notes? }`");
    return { output: said.output, ...(said.notes !== undefined && { notes: said.notes }) };
  }

  private async emit(event: DistributiveOmit<TaskEvent, "run">): Promise<void> {
    const { onEvent, signal } = this.options;
    // Another part has ended the run.
    if (this.#isStopped) await new Promise<never>(() => undefined);
    checkedSignal(signal);
    await raceAbort(onEvent?.({ ...event, run: stored(this.root) }), signal);
  }
}

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never;

/** Whether a task is a run of its own. */
function isComposite({ type, task }: { type?: string; task?: unknown }): boolean {
  return type === "sequential" || type === "reduce" || (type === "atomic" && task !== undefined);
}

const nodeOf = (run: Run, subject: TaskSubject): Node => ({ run, subject, nested: new Map() });

function restored({ run, subject = {}, nested = {} }: TaskRun): Node {
  checkedObject(checkedObject(run, "input.run").task, "input.run.task");
  const nodes = Object.entries(nested).map(([key, node]) => [key, restored(node)] as const);
  return { run, subject, nested: new Map(nodes) };
}

/** The state of a node as plain data. */
function stored({ run, subject, nested }: Node): TaskRun {
  const nodes = [...nested].map(([key, node]) => [key, stored(node)] as const);
  return {
    run,
    ...(Object.keys(subject).length > 0 && { subject }),
    ...(nodes.length > 0 && { nested: Object.fromEntries(nodes) }),
  };
}

const keyOf = (request: Request): string => ("index" in request ? `${request.index}` : request.status);

function placeOf(path: string, run: Run, request: Request): TaskPlace {
  const { task } = request.request;
  switch (request.status) {
    case "context":
      return { path, role: "task", task };
    case "step": {
      const { id, index, total } = request;
      if (run.task.type === "sequential")
        return { path: `${path}.steps[${index}]`, role: "step", id, index, total, task };
      const isOwn = run.task.task === undefined;
      return isOwn ? { path, role: "task", task } : { path: `${path}.task`, role: "task", task };
    }
    case "inner": {
      const { id, index, total } = request;
      return { path: `${path}.innerTask`, role: "innerTask", id, index, total, task };
    }
    case "reduction":
      return { path: `${path}.reductionTask`, role: "reductionTask", task };
  }
}

/** What a request is about; steps are about what their sequence is about. */
function subjectOf(request: Request, subject: TaskSubject): TaskSubject {
  if (request.status === "inner") return { input: request.input };
  if (request.status !== "reduction") return subject;
  const { results, accumulator } = request;
  return { results, ...(accumulator !== undefined && { accumulator }) };
}

/** The inputs of a nested reduction: what it is about, otherwise the outputs of the steps before it. */
function defaultInputs(run: Run, request: Request, { input, results }: TaskSubject): TaskInputs {
  if (request.status === "step" && run.outputs.length > 0) {
    return run.outputs.map(({ step, output }) => ({ id: step, text: output }));
  }
  if (results) return results.map((result) => ({ id: result.input, text: result.output }));
  return input === undefined ? [] : [input];
}
