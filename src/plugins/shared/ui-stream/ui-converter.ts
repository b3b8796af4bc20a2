import type { EnsembleEvent, Ev, EventType } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { Purpose } from "../../../contracts/chat-model.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "./page-stream.js";
import { RunCancelledError, RunSuspendedError } from "../../../contracts/errors.js";
import { redactorOf } from "../../../contracts/redaction.js";
import { asFields, asText } from "../../../util/objects.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { Activity } from "./activity.js";
import { DataParts } from "./data-parts.js";
import { ShownTasks } from "./shown-tasks.js";
import { TextParts } from "./text-parts.js";
import { ToolParts } from "./tool-parts.js";
import { uiErrorText } from "./ui-error-text.js";

type Handlers = { readonly [K in EventType]?: (e: Ev<K>) => void };

/** Purposes of model calls whose text does not belong to the answer. */
const UNSHOWN: readonly Purpose[] = ["synthesis", "reflection", "review", "summary", "judge"];

/** The id of the final text if the last task of the run was not known in advance. */
const RESULT = "result";

/**
 * Converts the events of a run, recorded or live, to a UI message stream. Shows only the fields
 * that the options allow.
 */
export class UIConverter implements PageStream {
  readonly #runId: string;
  /** The ids of each message. */
  readonly #place: { readonly turnId: string; readonly threadId?: string };
  readonly #shown: ShownTasks;
  readonly #texts: TextParts;
  readonly #tools: ToolParts;
  readonly #data: DataParts;
  readonly #activity = new Activity();
  readonly #handlers: Handlers;
  /** The purpose of the last model call of a task. */
  readonly #purposes = new Map<string, Purpose>();
  readonly #usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  #o: UIStreamOptions;
  #out: UIChunk[] = [];
  #state: "new" | "open" | "ended" = "new";
  /** Whether the run waits for people and is suspended. The end of its work is then not shown. */
  #isSuspended = false;
  /** Whether the last step of the message has tool calls. */
  #stepHasCalls = false;
  #redactor: Redactor | undefined;
  /** The output of the last completed top-level task. */
  #lastRaw: string | undefined;
  /** The task whose output was shown as the answer. */
  #answered = RESULT;

  constructor(runId: string, o: UIStreamOptions, threadId?: string) {
    this.#runId = runId;
    this.#place = { turnId: runId, ...(threadId !== undefined && { threadId }) };
    this.#o = o;
    const push = (chunk: UIChunk): void => {
      const { type } = chunk;
      if (type === "start-step" || type.startsWith("tool-input-"))
        this.#stepHasCalls = type !== "start-step";
      this.#out.push(chunk);
    };
    const value = (given: unknown): unknown => this.#value(given);
    this.#shown = new ShownTasks(o.text);
    this.#texts = new TextParts(push);
    this.#tools = new ToolParts({ tools: o.tools, sources: o.sources, push, value });
    this.#data = new DataParts(o.data !== false, push);
    this.#handlers = { ...this.#taskHandlers(), ...this.#callHandlers(), ...this.#dataHandlers() };
  }

  get clientCalls(): ReadonlyMap<string, string> {
    return this.#tools.clientCalls;
  }

  get waitsForPeople(): boolean {
    return this.#activity.waitsForPeople;
  }

  take(event: EnsembleEvent): readonly UIChunk[] {
    if (this.#state === "ended") return [];
    if (event.type === "ensemble_started") this.#isSuspended = false;
    if (this.#isSuspended) return [];
    this.#begin();
    this.#redactor = redactorOf(event);
    (this.#handlers[event.type] as ((e: EnsembleEvent) => void) | undefined)?.(event);
    const metadata = this.#o.metadata?.(event);
    if (metadata !== undefined)
      this.#out.push({ type: "message-metadata", messageMetadata: this.#value(metadata) });
    return this.#flush();
  }

  end(end: PageEnd): readonly UIChunk[] {
    if (this.#state === "ended") return [];
    this.#begin();
    if (this.#isSuspended) this.#suspend();
    else if (end.kind === "failed") this.#fail(end.error);
    else {
      this.#redactor = end.redactor;
      if (end.exitReason === "COMPLETED") this.#answer(end.raw);
      this.#closeParts();
      if (end.exitReason === "CANCELLED") this.#abort();
      else this.#finish(end.exitReason === "COMPLETED" ? "stop" : "other");
    }
    this.#state = "ended";
    return this.#flush();
  }

  pause(): readonly UIChunk[] {
    if (this.#state === "ended") return [];
    this.#begin();
    this.#texts.endAll();
    this.#finish("tool-calls");
    this.#state = "ended";
    return this.#flush();
  }

  startNextResponse(options: UIStreamOptions): void {
    this.#o = options;
    this.#state = "new";
  }

  #begin(): void {
    if (this.#state === "open") return;
    this.#state = "open";
    this.#out.push({ type: "start", messageId: this.#o.messageId ?? `${this.#runId}-a` });
  }

  #suspend(): void {
    this.#texts.endAll();
    this.#finish(this.waitsForPeople ? "tool-calls" : "other");
  }

  #fail(error: Error): void {
    this.#closeParts();
    if (RunSuspendedError.isInstance(error)) this.#finish("other");
    else if (RunCancelledError.isInstance(error)) this.#abort();
    else this.#out.push({ type: "error", errorText: uiErrorText(error, this.#o.onError) });
  }

  #closeParts(): void {
    this.#tools.abandon();
    this.#texts.endAll();
  }

  #abort(): void {
    this.#out.push(...this.#emptyStep(), { type: "abort" });
  }

  /**
   * Returns an empty step that follows tool calls. Without it,
   * `lastAssistantMessageIsCompleteWithToolCalls` would repeatedly send the outputs of a turn that
   * has ended. `useChat` adds the step together with the metadata.
   */
  #emptyStep(): readonly UIChunk[] {
    if (!this.#stepHasCalls) return [];
    this.#stepHasCalls = false;
    return [
      { type: "start-step" },
      { type: "finish-step" },
      { type: "message-metadata", messageMetadata: this.#place },
    ];
  }

  #finish(finishReason: string): void {
    if (finishReason !== "tool-calls") this.#out.push(...this.#emptyStep());
    const messageMetadata = { ...this.#place, usage: { ...this.#usage } };
    this.#out.push({ type: "finish", finishReason, messageMetadata });
  }

  /**
   * Shows the final text if the page shows only the answer and the text was not shown yet. A
   * recorded run has no text after its last task.
   */
  #answer(given: string | undefined): void {
    if (!this.#shown.onlyAnswer) return;
    const isOpen = this.#answered === RESULT && !this.#shown.isAnswerKnown;
    const raw = given ?? (isOpen ? this.#lastRaw : undefined);
    if (raw !== undefined) this.#texts.accept(this.#answered, this.#text(raw));
  }

  #taskHandlers(): Handlers {
    const texts = this.#texts;
    return {
      ensemble_started: (e) => this.#shown.begin(e),
      run_suspended: () => void (this.#isSuspended = true),
      task_started: (e) => {
        texts.refuse(e.taskId); // the task is repeated: the shown text is not its output
        this.#shown.started(e);
        this.#activity.started(e);
        this.#data.task(e, "running");
      },
      task_completed: (e) => {
        this.#completed(e);
        this.#data.task(e, "done", e.tokenCount);
      },
      task_failed: (e) => {
        this.#activity.ended(e.taskId);
        this.#tools.abandon(e.taskId);
        texts.leave(e.taskId);
        this.#data.taskFailed(e);
      },
      guardrail_refused: ({ taskId, kind }) => {
        if (kind === "OUTPUT") texts.refuse(taskId);
      },
      output_corrected: ({ taskId }) => texts.refuse(taskId),
      retry_scheduled: ({ taskId }) => texts.cutOff(taskId),
    };
  }

  #callHandlers(): Handlers {
    return {
      llm_iteration_started: ({ taskId }) => this.#texts.leave(taskId),
      llm_iteration_completed: ({ taskId }) => this.#texts.endText(taskId),
      usage_recorded: (e) => this.#counted(e),
      reasoning_received: (e) => {
        if (this.#o.reasoning === false || !this.#shown.has(e.taskId)) return;
        const purpose = this.#purposes.get(e.taskId);
        if (purpose !== undefined && !UNSHOWN.includes(purpose))
          this.#texts.reason(e.taskId, this.#text(e.reasoning));
      },
      reasoning_token: ({ taskId, index, token }) => {
        if (this.#o.reasoning !== false && this.#shown.has(taskId))
          this.#texts.think(taskId, index, this.#text(token));
      },
      token: ({ taskId, token }) => {
        if (this.#shown.has(taskId)) this.#texts.add(taskId, this.#text(token));
      },
      tool_started: (e) => {
        this.#activity.called(e.taskId, 1);
        // the page executes the call even if the task is not shown
        const isClient = e.client === true;
        if (!isClient && !this.#shown.has(e.taskId)) return;
        this.#texts.endText(e.taskId);
        if (isClient || this.#o.tools !== "none") this.#texts.enter(e.taskId);
        this.#tools.started(e);
      },
      tool_called: (e) => {
        this.#activity.called(e.taskId, -1);
        this.#tools.ended(e);
      },
      partial_output: ({ taskId, partial }) => {
        if (this.#shown.withPartialOutputs) this.#data.partial(taskId, this.#value(partial));
      },
    };
  }

  #dataHandlers(): Handlers {
    return {
      delegation_started: (e) => this.#data.delegation(e, "running"),
      delegation_completed: (e) => this.#data.delegation(e, "done"),
      delegation_failed: (e) => this.#data.delegation(e, "failed"),
      review_requested: (e) => this.#asked(e),
      review_resolved: (e) => {
        this.#activity.answered(e.reviewId);
        this.#data.answered(e);
        if (!this.#activity.isAsking(e.taskId)) this.#data.task(e, "running");
      },
      budget_opened: (e) => this.#data.budgetOpened(e),
      budget_changed: (e) => this.#data.budget(e),
      budget_exceeded: (e) => this.#data.exceeded(e),
    };
  }

  #completed({ taskId, parentTaskId, taskOutput }: Ev<"task_completed">): void {
    this.#activity.ended(taskId);
    this.#tools.abandon(taskId);
    const found: unknown = asFields(taskOutput)?.["raw"]; // a log may omit contents
    const raw = typeof found === "string" ? found : undefined;
    const isShown = raw !== undefined && this.#shown.has(taskId);
    if (isShown) this.#texts.accept(taskId, this.#text(raw));
    if (parentTaskId === undefined) {
      this.#lastRaw = raw;
      if (isShown) this.#answered = taskId;
    }
    this.#texts.leave(taskId);
  }

  #counted({ taskId, purpose, inputTokens, outputTokens }: Ev<"usage_recorded">): void {
    if (taskId !== undefined) this.#purposes.set(taskId, purpose);
    const input = Math.max(0, inputTokens);
    const output = Math.max(0, outputTokens);
    this.#usage.inputTokens += input;
    this.#usage.outputTokens += output;
    this.#usage.totalTokens += input + output;
  }

  #asked(event: Ev<"review_requested">): void {
    const { taskId, agentRole, reviewId, prompt, callId, expects } = event;
    this.#activity.asked(taskId, reviewId);
    if (expects === "output") return this.#tools.execute(event);
    const isShown = this.#shown.has(taskId);
    const call = isShown && callId !== undefined ? this.#tools.ask(event) : undefined;
    const withPrompt = isShown && prompt !== undefined && call !== "hidden" && call !== "absent";
    this.#data.asked(reviewId, withPrompt ? this.#text(prompt) : undefined);
    this.#data.task({ taskId, agentRole }, "waiting");
  }

  #text(given: string): string {
    const text = asText(given);
    return this.#redactor?.redactText(text) ?? text;
  }

  #value(value: unknown): unknown {
    return this.#redactor === undefined ? toJsonValue(value) : this.#redactor.redactValue(value);
  }

  #flush(): readonly UIChunk[] {
    const chunks = this.#out;
    this.#out = [];
    return chunks;
  }
}
