import type { Diagnostic, DriverOptions, Limits, OwnTokenizer, Tokenizer } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// Tasks
// ---------------------------------------------------------------------------------------------------------------------

/** Type of a task. Unknown names are kept and have no defaults. */
export type TaskType = "atomic" | "sequential" | "reduce" | (string & Record<never, never>);

/** Role of a task in its parent. `task` is the root, or the task inside an inner or reduction task. */
export type TaskRole = "task" | "step" | "innerTask" | "reductionTask";

/**
 * The effective settings of an operator. A field is absent if the operator does not have the setting, or if its type is
 * unknown and the template does not set it.
 */
export interface ContextManagement {
  /** Whether to inherit the parent's context: all of it, none, or the subset that the memory system returns. */
  inheritContext?: "full" | "none" | "subset" | undefined;
  /** Whether the outputs of steps are passed to later steps. */
  accumulateData?: boolean | undefined;
  /** Which part of the outputs is passed. */
  accumulationFormat?: "notes_only" | "full_output" | undefined;
  /** Whether to ask the memory system for new context. */
  freshContext?: "enabled" | "disabled" | undefined;
}

/**
 * Origin of an effective value: the template, the defaults, or an invalid value in the template, which is replaced by
 * the most restrictive value.
 */
export type Origin = "explicit" | "default" | "invalid";

/** Origin of each effective value, for the settings present and the type. */
export interface Origins {
  type?: Origin;
  inheritContext?: Origin;
  accumulateData?: Origin;
  accumulationFormat?: Origin;
  freshContext?: Origin;
}

/** One operator, with all that the assembly of its context needs. */
export interface Operator {
  type: TaskType;
  role: TaskRole;
  /** The template's `id` attribute. */
  id?: string | undefined;
  /** The text of the template's `<description>`, trimmed. */
  description?: string | undefined;
  contextManagement: ContextManagement;
  origins: Origins;
}

/** An operator as input: a {@link Task}, or a plain object. Missing fields have their defaults. */
export type OperatorInput = Partial<Operator>;

/** A range of a text, in UTF-16 code units. */
export interface SourceSpan {
  start: number;
  end: number;
}

/** An unknown element, kept unchanged. */
export interface TaskElement {
  name: string;
  /** Its source, including its tags. */
  xml: string;
  line: number;
  column: number;
}

/** A task and its subtasks, deeply frozen: settings are fixed when the template is parsed. */
export interface Task extends Operator {
  /** The tasks in `<steps>`; always present in a sequential task. */
  steps?: Task[] | undefined;
  /** The task of a reduce task for each input. */
  innerTask?: Task | undefined;
  /** The task of a reduce task for the results. */
  reductionTask?: Task | undefined;
  /** The task inside an inner or reduction task. */
  task?: Task | undefined;
  /** Unknown elements, in order. */
  elements?: TaskElement[] | undefined;
  /** Line of the start tag, from 1. */
  line: number;
  /** Column of the start tag, from 1, in UTF-16 code units. */
  column: number;
  /** Range of the task in the template: `source.slice(span.start, span.end)` is its XML. */
  span: SourceSpan;
  /** The whole template; only on the root. */
  source?: string | undefined;
}

/** Input of `explainTask`: a parsed task, or a plain object. */
export interface TaskInput extends OperatorInput {
  steps?: TaskInput[] | undefined;
  innerTask?: TaskInput | undefined;
  reductionTask?: TaskInput | undefined;
  task?: TaskInput | undefined;
  line?: number | undefined;
  column?: number | undefined;
  /** Ignored, like the two fields below; parsed tasks have them. */
  span?: SourceSpan | undefined;
  elements?: TaskElement[] | undefined;
  source?: string | undefined;
}

/** How strictly to read a template. */
export interface ParseTaskOptions {
  /** `strict`: a missing required field in a block is an error instead of a warning. Default `compat`. */
  mode?: "compat" | "strict" | undefined;
  /** Rejects `inherit_context` `full` or `subset` combined with `fresh_context` `enabled`. Default false. */
  exclusive?: boolean | undefined;
  limits?: Limits | undefined;
}

/**
 * A task with diagnostics: those for the options first, then those for the template in order, with `line` and `column`.
 */
export interface ParsedTask {
  /** Present even if there are diagnostics of severity `error`, with defaults for invalid values. */
  task: Task;
  diagnostics: Diagnostic[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Explaining
// ---------------------------------------------------------------------------------------------------------------------

/** What an operator sees, as one word, and why. */
export interface Look<Sees extends string> {
  sees: Sees;
  /** A phrase for people. */
  why: string;
}

/** What one operator of a template will see. */
export interface ExplainedOperator {
  /** Its path: `task.steps[0].innerTask`. */
  path: string;
  /** Its nesting depth. */
  level: number;
  role: TaskRole;
  type: TaskType;
  /** Its id, or the generated id of a step: `step-1`. */
  id?: string;
  description?: string;
  line: number;
  column: number;
  contextManagement: ContextManagement;
  origins: Origins;
  /** When the memory system is asked; absent if the template does not determine it. */
  asksMemory?: "always" | "withParentContext" | "never";
  /** Visible part of the parent's context. */
  inherited: Look<"all" | "part" | "nothing" | "unknown">;
  /** Visible part of the outputs of earlier steps. */
  accumulated: Look<"notes" | "outputs" | "nothing">;
  /** Visible part of the memory system's matches. */
  fresh: Look<"matched" | "nothing" | "unknown">;
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly
// ---------------------------------------------------------------------------------------------------------------------

/** The output of one step. */
export interface StepOutput {
  /** The step's id. */
  step: string;
  output: string;
  /** Notes on the output, which `notes_only` keeps. */
  notes?: string | undefined;
}

/** Headings for the input of the memory system as one text. */
export interface ContextHeadings {
  /** Default `## Task`. */
  task?: string | undefined;
  /** Default `## Inherited Context`. */
  inheritedContext?: string | undefined;
  /** Default `## Previous Outputs`. */
  previousOutputs?: string | undefined;
}

/** Input of an assembly. */
export interface ContextAssemblyRequest {
  task: OperatorInput;
  /** Description of the task for the memory system. Defaults to the task's description. */
  taskText?: string | undefined;
  /** The parent's context. */
  parentContext?: string | undefined;
  /** The outputs of earlier steps, in order. A text is both output and notes of a step without an id. */
  previousOutputs?: string | (string | StepOutput)[] | undefined;
  /**
   * How `previousOutputs` reach the task if the settings of the enclosing sequence decide it instead of the task's. Set
   * by {@link nextRequest}.
   */
  accumulation?: "off" | "notes_only" | "full_output" | undefined;
  headings?: ContextHeadings | undefined;
  /** Number of tokens above which the result carries a warning; it has no other effect. */
  warnTokens?: number | undefined;
  /** Number of tokens above which the assembly throws `context_too_long`. */
  maxTokens?: number | undefined;
  /** Limit to which the context is cut. */
  budget?: ContextBudget | undefined;
  /** How to count tokens. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  limits?: Limits | undefined;
}

/** The token budget of a context. */
export interface ContextBudget {
  maxTokens: number;
  /** Default `truncateMiddle`. With `stopAtLimit` the assembly throws `context_too_long`. */
  truncationStrategy?: "truncateMiddle" | "rollingWindow" | "stopAtLimit" | undefined;
  /** Text that replaces removed text. Default `\n\n[…]\n\n`. */
  truncationMarker?: string | undefined;
}

/** The report on a budget. */
export interface ContextReport {
  strategy: "truncateMiddle" | "rollingWindow" | "stopAtLimit";
  limit: number;
  tokens: { total: number; tokenizer: string };
  truncated: boolean;
  /** Present if anything was cut; its tokens are counted alone. */
  cut?: { tokens: number; marker?: string };
  /** One row for each part that is present, in the order of the context. Tokens are counted alone. */
  parts: {
    part: "inherited" | "accumulated" | "fresh";
    fate: "kept" | "changed" | "cut";
    reason?: "overLimit" | "shortened";
    tokens: number;
    /** Tokens of what remains, if it was changed. */
    tokensAfter?: number;
  }[];
}

/** Input of the memory system. */
export interface ContextGenerationInput {
  taskText: string;
  /** The parent's context, if the task inherits it. */
  inheritedContext?: string;
  /** The accumulated outputs, if the task accumulates. */
  previousOutputs?: string;
}

/** The request to the memory system: new context, the relevant part of the parent's context, or both. */
export type MatchPurpose = "match" | "filter" | "filterAndMatch";

/** A match of the memory system: a path and its metadata. */
export type ContextMatch = [path: string, metadata: unknown];

/** Answer of the memory system. */
export interface MemoryAnswer {
  /**
   * The context found; for a filter, the relevant part of the parent's context. If it begins or ends with the parent's
   * context, which the result has already, that text is removed from it.
   */
  context: string;
  /** In an order that is kept unchanged. A match without metadata may be its path alone. */
  matches: (ContextMatch | [path: string] | string)[];
  /** The relevant part of the parent's context, if the memory system separates it from new context. */
  inherited?: string | undefined;
}

/** A context, in parts and as one text. */
export interface ContextAssembly {
  /** The parts that are present, joined by a blank line: inherited, accumulated, fresh. */
  context: string;
  /** From the parent: all of it, unchanged, or the part returned by the memory system. */
  inherited?: string;
  /** From earlier steps. */
  accumulated?: string;
  /** From the memory system. */
  fresh?: string;
  /** Its matches, unchanged. */
  matches: ContextMatch[];
  /** Tokens of `context`, if the request has a tokenizer or a size. */
  tokens?: number;
  /** Present if the request has a `budget`. The parts above are those that remain. */
  report?: ContextReport;
  /** Present if there are any. */
  diagnostics?: Diagnostic[];
}

/** An assembly waiting for the memory system: plain data for `finishContextAssembly`. */
export interface ContextAssemblyState {
  pending: {
    purpose: MatchPurpose;
    inherited?: string | undefined;
    accumulated?: string | undefined;
    diagnostics?: Diagnostic[] | undefined;
  };
  sizes?:
    | {
        /** A tokenizer's name. A custom tokenizer must be passed again in {@link FinishContextOptions}. */
        tokenizer?: string | { name: string } | undefined;
        warnTokens?: number | undefined;
        maxTokens?: number | undefined;
        budget?: ContextBudget | undefined;
      }
    | undefined;
}

/** The options of `finishContextAssembly`. */
export interface FinishContextOptions {
  /** The custom tokenizer of the request: the state cannot carry it. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}

/** A pending question to the memory system. */
export interface ContextMatchRequest {
  status: "match";
  input: ContextGenerationInput;
  /** The input as one text with headings. */
  text: string;
  purpose: MatchPurpose;
  state: ContextAssemblyState;
}

/** Result of a request: a context, or a question to the memory system. */
export type BegunContextAssembly = { status: "ready"; result: ContextAssembly } | ContextMatchRequest;

/** Answers a question. If it throws or rejects, it is asked once more. The second argument is optional information. */
export type MemorySystem = (
  input: ContextGenerationInput,
  about: { text: string; purpose: MatchPurpose } & DriverOptions,
) => MemoryAnswer | Promise<MemoryAnswer>;

// ---------------------------------------------------------------------------------------------------------------------
// Failures
// ---------------------------------------------------------------------------------------------------------------------

/** Input for the failure of a step. */
export interface SequentialFailureInput {
  /** The sequential task; its settings decide whether notes or whole outputs are kept. */
  task: TaskInput;
  /** The outputs of earlier steps, in order. */
  outputs?: StepOutput[] | undefined;
  /** The id of the step that failed. */
  failedStep: string;
  /** Number of steps. Defaults to the steps of the task. */
  totalSteps?: number | undefined;
  /** Default `subtask_failure`. */
  reason?: string | undefined;
  message?: string | undefined;
  /** The failure of the nested task that failed. */
  cause?: SequentialFailure | ReduceFailure | undefined;
}

/** Result of a sequential task with a failed step. */
export interface SequentialFailure {
  type: "TASK_FAILURE";
  reason: string;
  message: string;
  /** Absent if the assembly of the sequence's context failed. */
  failedStep?: string;
  totalSteps: number;
  notes: {
    /**
     * One for each completed step, in order: its notes, or its output if it has no notes or the sequence accumulates
     * whole outputs.
     */
    partialResults: { step: string; output?: string; notes?: string }[];
  };
  /** The failure of the nested task that failed, with its own partial results. */
  cause?: SequentialFailure | ReduceFailure;
}

/** Input for the failure of an inner task or the reduction. */
export interface ReduceFailureInput {
  /** Id of the input being processed; absent if the reduction over all results failed. */
  failedInput?: string | undefined;
  /** The outputs of the inner task for earlier inputs, in order. */
  outputs?: { input: string; output: string; notes?: string | undefined }[] | undefined;
  totalInputs?: number | undefined;
  /** The reduction's output so far. */
  accumulator?: string | undefined;
  /** Default `subtask_failure`. */
  reason?: string | undefined;
  message?: string | undefined;
  /** The failure of the nested task that failed. */
  cause?: SequentialFailure | ReduceFailure | undefined;
}

/** Result of a reduce task with a failed part. */
export interface ReduceFailure {
  type: "TASK_FAILURE";
  reason: string;
  message: string;
  failedInput?: string;
  /** Ids of the inputs that the inner task completed, in order. */
  processedInputs: string[];
  totalInputs?: number;
  accumulator?: string;
  notes: {
    /** One for each completed input, in order. */
    partialResults: { input: string; output: string; notes?: string }[];
  };
  /** The failure of the nested task that failed, with its own partial results. */
  cause?: SequentialFailure | ReduceFailure;
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs
// ---------------------------------------------------------------------------------------------------------------------

/** The inputs of a reduce task. */
export type TaskInputs = (string | { id?: string | undefined; text: string })[];

/** A task and its subtasks, without their places in the template. */
export interface RunTask extends Operator {
  steps?: RunTask[] | undefined;
  innerTask?: RunTask | undefined;
  reductionTask?: RunTask | undefined;
  task?: RunTask | undefined;
}

/** Input of a run. */
export interface RunInput {
  /** An atomic, sequential or reduce task. */
  task: TaskInput;
  /** The inputs of a reduce task; missing ids become `input-1` and so on. */
  inputs?: TaskInputs | undefined;
  /** Whether the reduction runs once, after all results, or after each. Default `all`. */
  reduction?: "all" | "each" | undefined;
  /** The parent's context. */
  parentContext?: string | undefined;
  /** The headings of every request. */
  headings?: ContextHeadings | undefined;
}

/** The state of a run: plain data that can be stored anywhere. */
export interface Run {
  task: RunTask;
  inputs?: { id: string; text: string }[];
  reduction?: "each";
  parentContext?: string;
  headings?: Record<keyof ContextHeadings, string>;
  /** The task's context, once recorded. */
  context?: string;
  /** The outputs of the steps, or of the inner task for each input. */
  outputs: StepOutput[];
  /** Outputs of the inner task that wait for those of earlier inputs. */
  ahead?: (StepOutput & { index: number })[];
  /** Number of outputs that the reduction has processed. */
  reduced: number;
  /** The reduction's output so far. */
  accumulator?: string;
  /** Notes on that output. */
  accumulatorNotes?: string;
  failure?: StepFailure & { index?: number };
}

/** A failed action. */
export interface StepFailure {
  message: string;
  /** Default `subtask_failure`. */
  reason?: string;
  /** The failure of the nested task. */
  cause?: SequentialFailure | ReduceFailure;
}

/** A run as input: returned by `startRun`, restored from JSON, or a plain object. */
export interface RunState extends RunInput {
  context?: string | undefined;
  outputs?: StepOutput[] | undefined;
  ahead?: (StepOutput & { index: number })[] | undefined;
  reduced?: number | undefined;
  accumulator?: string | undefined;
  accumulatorNotes?: string | undefined;
  failure?: (StepFailure & { index?: number | undefined }) | undefined;
}

/** The request of a run: its `task` includes all subtasks. */
export interface RunRequest extends ContextAssemblyRequest {
  task: RunTask;
}

/** The next action of a run. */
export type RunNext =
  /** The task's context: assemble it and record `{ context }`. */
  | { status: "context"; request: RunRequest }
  /** A step: assemble its context, run it and record `{ output, notes? }`. An atomic task is its own step. */
  | { status: "step"; id: string; index: number; total: number; request: RunRequest }
  /** The inner task, for one input. */
  | { status: "inner"; id: string; index: number; total: number; input: string; request: RunRequest }
  /** The reduction, over results that it has not processed yet. */
  | {
      status: "reduction";
      request: RunRequest;
      accumulator?: string;
      results: { input: string; output: string; notes?: string }[];
    }
  /** The run is complete. */
  | { status: "done"; output?: string; notes?: string; outputs: StepOutput[] }
  /** A part has failed. */
  | { status: "failed"; failure: SequentialFailure | ReduceFailure };

/** The outcome of an action. */
export type RunResult =
  | { context: string }
  /** `index`: the input of the inner task; default: the next one. */
  | { output: string; notes?: string | undefined; index?: number | undefined }
  | { error: StepFailure & { index?: number | undefined } };

// ---------------------------------------------------------------------------------------------------------------------
// Running a whole task
// ---------------------------------------------------------------------------------------------------------------------

/** What the model is asked to work on, for the steps of an inner or reduction task as well. */
export interface TaskSubject {
  /** The input of the inner task. */
  input?: string;
  /** The results that the reduction processes. */
  results?: { input: string; output: string; notes?: string }[];
  /** The reduction's output so far. */
  accumulator?: string;
}

/** The place of a part of a task. */
export interface TaskPlace {
  /** As in `explainTask`: `task.steps[0].innerTask`. */
  path: string;
  role: TaskRole;
  /** The id of the step, or of the input of an inner task. */
  id?: string;
  /** The index of the step or input. */
  index?: number;
  /** The number of steps or inputs. */
  total?: number;
  task: RunTask;
}

/** A call of the model. */
export interface ModelCall extends TaskPlace, TaskSubject {
  context: ContextAssembly;
}

/** The answer of the model. */
export interface TaskOutput {
  output: string;
  /** Notes on the output, which `notes_only` keeps. */
  notes?: string | undefined;
}

/** Runs one step. If it throws or rejects, the step has failed; it is not retried. */
export type TaskModel = (call: ModelCall, about: DriverOptions) => string | TaskOutput | Promise<string | TaskOutput>;

/** A run between two steps: plain data that can be stored and passed to `runTask` later, in any process. */
export interface TaskRun {
  run: Run;
  /** What the steps of the run are about. */
  subject?: TaskSubject | undefined;
  /** The runs of nested tasks under way, by index. */
  nested?: Record<string, TaskRun> | undefined;
}

/**
 * The progress of a task. `run` is the state after the event. For `failed` it is the state before the failure: a run that
 * is continued from it tries the step again.
 */
export type TaskEvent = TaskPlace & { run: TaskRun } & (
    | { type: "started" }
    /** The context is ready, with its report if there is a `budget`. */
    | { type: "context"; context: ContextAssembly }
    | { type: "finished"; output: string; notes?: string }
    | { type: "failed"; failure: StepFailure }
  );

/** Options of `runTask`. */
export interface RunTaskOptions extends DriverOptions {
  memory: MemorySystem;
  model: TaskModel;
  /** Receives every event. The run waits for the promise that it returns. */
  onEvent?: ((event: TaskEvent) => unknown) | undefined;
  /** Inner tasks of one reduction under way at once. Results keep the order of the inputs. Default 1. */
  concurrency?: number | undefined;
  /**
   * The inputs of a nested reduction. Default, which it receives as `inputs`: the outputs of the steps before it,
   * otherwise the results or the input that it is about.
   */
  inputs?: ((call: ModelCall & { inputs: TaskInputs }) => TaskInputs | Promise<TaskInputs>) | undefined;
  /** For every context, as in {@link ContextAssemblyRequest}. */
  warnTokens?: number | undefined;
  /** For every context. A context above it fails its step. */
  maxTokens?: number | undefined;
  /** For every context. */
  budget?: ContextBudget | undefined;
  /** How to count tokens. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}

/** The result of `runTask`. */
export type TaskOutcome =
  | { status: "done"; output: string; notes?: string; outputs: StepOutput[]; run: TaskRun }
  | { status: "failed"; failure: SequentialFailure | ReduceFailure; run: TaskRun };
