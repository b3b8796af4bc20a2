import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { AgentSummary } from "../../../contracts/dag.js";
import type {
  DelegationRecord,
  DelegationTrace,
  ErrorTrace,
  MemoryAccess,
  RunRecord,
  TaskRecord,
  TaskTrace,
} from "../../../contracts/trace.js";
import type { TraceKeeper } from "./keeper.js";
import type { WallClock } from "./wall-clock.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { isTool } from "../../../contracts/tool.js";
import type { ContentPart } from "../../../contracts/content.js";
import { CallTraces } from "./call-traces.js";
import type { TracedFiles } from "./traced-files.js";
import { spanOf } from "./wall-clock.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Whether a task is the task of a manager. Its delegated tasks are tasks of the run, with separate
 * lanes.
 */
function isManager({ calls }: TaskRecord): boolean {
  return calls[0]?.usage.purpose === "manager";
}

/**
 * Creates the traces of the tasks of a run. Tasks of delegates are inside their delegations. Tasks
 * of a manager's workers are next to the manager's task.
 */
export class TaskTraces {
  readonly #run: RunRecord;
  readonly #clock: WallClock;
  readonly #keeper: TraceKeeper;
  readonly #calls: CallTraces;

  readonly #files: TracedFiles;

  constructor(
    run: RunRecord,
    o: { readonly clock: WallClock; readonly keeper: TraceKeeper; readonly files: TracedFiles },
  ) {
    this.#run = run;
    this.#clock = o.clock;
    this.#keeper = o.keeper;
    this.#files = o.files;
    this.#calls = new CallTraces(run.capture, o);
  }

  /** Every attempt of every task that is not inside a delegation. */
  topLevel(): readonly TaskTrace[] {
    return Object.freeze([...this.each()]);
  }

  /** Yields the same traces, each created on demand. */
  *each(): Generator<TaskTrace> {
    const workers = new Set(
      this.#run.tasks.flatMap((task) =>
        isManager(task) ? [] : task.delegations.map((delegation) => delegation.worker),
      ),
    );
    for (const task of this.#run.tasks) if (!workers.has(task)) yield this.#taskTrace(task);
  }

  /** Returns the end of a task. An abandoned task ends with the run. */
  #end(task: TaskRecord): number {
    return task.outcome === "running" ? this.#run.endedMs : task.endedMs;
  }

  #taskTrace(record: TaskRecord): TaskTrace {
    const { output, task } = record;
    const keeper = this.#keeper;
    return Object.freeze({
      taskId: record.taskId,
      parentTaskId: record.parentTaskId,
      attempt: record.attempt,
      outcome: record.outcome,
      taskDescription: keeper.text(task.description),
      expectedOutput: keeper.text(task.expectedOutput),
      agentRole: record.agentRole,
      dependsOn: record.contextIds ?? [],
      ...spanOf(this.#clock, record.startedMs, this.#end(record)),
      prompts: this.#prompts(record.messages),
      llmInteractions: record.calls.map((call) => this.#calls.interaction(call)),
      toolCalls: this.#calls.tools(record.tools),
      delegations: record.delegations.map((delegation) =>
        this.#delegationTrace(delegation, !isManager(record)),
      ),
      finalOutput: output === undefined ? undefined : keeper.text(output.raw),
      parsedOutput:
        output === undefined || output.parsed === output.raw
          ? undefined
          : keeper.value(output.parsed),
      metrics: record.metrics,
      memory: (record.memory ?? []).map((access) => this.#memory(access)),
      ...record.mapReduce,
    });
  }

  #prompts(messages: readonly ChatMessage[] | undefined): TaskTrace["prompts"] {
    if (messages === undefined) return undefined;
    const first = (role: "system" | "user"): readonly ContentPart[] => {
      const { content = "" } = messages.find((m) => m.role === role) ?? {};
      return typeof content === "string" ? [{ type: "text", text: content }] : content;
    };
    const textOf = (parts: readonly ContentPart[]): string => {
      const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return this.#keeper.text(texts.join("\n"));
    };
    const user = first("user");
    const parts = this.#files.summaries(user);
    return {
      systemPrompt: textOf(first("system")),
      userPrompt: textOf(user),
      ...(parts.length > 0 && { parts }),
    };
  }

  #memory(access: MemoryAccess): MemoryAccess {
    return { ...access, entries: access.entries.map((entry) => this.#keeper.text(entry)) };
  }

  #delegationTrace(record: DelegationRecord, inside: boolean): DelegationTrace {
    const { worker } = record;
    return {
      delegatorRole: record.delegatorRole,
      workerRole: record.workerRole,
      taskDescription: this.#keeper.text(record.taskDescription),
      ...spanOf(this.#clock, record.startedMs, record.endedMs),
      depth: record.depth,
      priority: record.priority,
      mode: record.mode ?? "task",
      result: this.#keeper.text(record.result),
      succeeded: record.succeeded,
      workerTaskId: worker?.taskId,
      workerTrace: worker === undefined || !inside ? undefined : this.#taskTrace(worker),
    };
  }

  /**
   * Returns one entry for every failed task, in the order of the tasks. The error of the run is the
   * last entry.
   */
  errors(): readonly ErrorTrace[] {
    const failed = this.#run.tasks.flatMap((task) =>
      task.error === undefined ? [] : [this.#errorTrace(task.error, this.#end(task), task)],
    );
    const own = this.#run.error;
    return Object.freeze(
      own === undefined ? failed : [...failed, this.#errorTrace(own, this.#run.endedMs)],
    );
  }

  #errorTrace(error: Error, atMs: number, task?: TaskRecord): ErrorTrace {
    const keeper = this.#keeper;
    return {
      taskId: task?.taskId,
      agentRole: task?.agentRole,
      taskDescription: task === undefined ? undefined : keeper.text(task.task.description),
      errorType: error.name,
      code: AgentEnsembleError.isInstance(error) ? error.code : undefined,
      message: keeper.text(messageOf(error)),
      stackTrace: error.stack === undefined ? undefined : keeper.text(error.stack),
      occurredAt: this.#clock(atMs),
    };
  }

  /**
   * Returns every role that worked, once, with the data of its first agent. `allowDelegation` is
   * true if it delegated in this run.
   */
  agents(): readonly AgentSummary[] {
    const workers = new Map<string, { readonly agent: Agent; readonly delegated: boolean }>();
    for (const { agent, delegations } of this.#run.tasks) {
      if (agent === undefined) continue;
      const known = workers.get(agent.role);
      const delegated = known?.delegated === true || delegations.length > 0;
      workers.set(agent.role, { agent: known?.agent ?? agent, delegated });
    }
    const summaries = [...workers.values()].map(({ agent, delegated }) => ({
      role: agent.role,
      goal: this.#keeper.text(agent.goal),
      background: agent.background === undefined ? undefined : this.#keeper.text(agent.background),
      toolNames: agent.tools.flatMap((tool) => (isTool(tool) ? [tool.name] : [])),
      allowDelegation: delegated,
    }));
    return Object.freeze(summaries);
  }
}
