import type { After, PromptSection, TaskCall } from "../../../contracts/hooks.js";
import type { MemoryEntry, MemoryOptions } from "../../../contracts/memory.js";
import type { MemoryScope } from "../../../contracts/memory-scope.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { HookRun } from "../../../contracts/run.js";
import type { UsedMemory } from "../../shared/memory/task-memory.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { MemoryTemplateName } from "./task-memory-prompts.js";
import { MEMORY_METADATA, shortTermWindow } from "../../../contracts/memory.js";
import { Phase, PhaseReview } from "../../../contracts/phase.js";
import { endsRun } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { taskLabel } from "../../../contracts/task-label.js";
import { memoryOfCall } from "../../shared/memory/task-memory.js";
import { entryOfOutput } from "./entry-of-output.js";
import { MemorySections } from "./memory-sections.js";
import { messageOf, toError } from "../../../util/errors.js";

/** Number of entries per scope in a task's prompt. */
const SCOPE_RESULTS = 5;
const LONG_TERM_RESULTS = 5;

const NOTHING: readonly never[] = Object.freeze([]);

/** A task that produced an output. */
type DoneTask = Extract<After<TaskCall, "output", TaskOutput>, { readonly outcome: "ok" }>;

/** The memory of one run: the sections for its prompts, and the storing of its outputs. */
export class RunMemory {
  readonly #sections: MemorySections;
  readonly #lenient: boolean;
  readonly #team: MemoryOptions;
  readonly #hasStore: boolean;
  /**
   * Sections from outside the run by task id, until the task's output is accepted. A further
   * attempt then needs no second search.
   */
  readonly #told = new Map<string, readonly PromptSection[]>();
  /** Tasks whose outputs are stored in their scopes. */
  readonly #kept = new Set<string>();
  readonly #scopes = new WeakMap<readonly MemoryScope[], readonly MemoryScope[]>();
  #warned = false;

  constructor(
    readonly run: HookRun,
    texts: PromptTexts<MemoryTemplateName>,
  ) {
    const { memory, memoryErrors } = run.options;
    this.#sections = new MemorySections(texts, (value, text) => run.format(value, text));
    this.#lenient = memoryErrors === "warn";
    this.#team = memory ?? {};
    this.#hasStore = run.find(Tokens.MemoryStore) !== undefined;
  }

  /** Returns the sections for a task's prompt. Returns them synchronously if no store is read. */
  sectionsFor(call: TaskCall): readonly PromptSection[] | Promise<readonly PromptSection[]> {
    const window = shortTermWindow(this.#team, call.agent);
    const shortTerm =
      window === undefined ? NOTHING : this.#sections.shortTerm(this.#earlierOutputs(call, window));
    const told = call.revision === undefined ? undefined : this.#told.get(call.taskId);
    if (told !== undefined) return [...told, ...shortTerm];
    const scopes = this.#scopesOf(call);
    if (scopes.length === 0 && this.#team.longTerm === undefined && this.#team.entity === undefined)
      return shortTerm;
    return this.#ask(call, scopes).then((sections) => {
      this.#told.set(call.taskId, sections);
      return [...sections, ...shortTerm];
    });
  }

  /**
   * Returns whether a task runs again because its phase was rejected. Its earlier entries in the
   * scopes are then invalid.
   */
  isSentBack(call: TaskCall): boolean {
    return this.#kept.has(call.taskId) && call.group instanceof Phase;
  }

  /** Removes the rejected outputs of a task from its scopes. */
  async takeBack(call: TaskCall): Promise<void> {
    const { run, taskId } = call;
    this.#kept.delete(taskId);
    const isRefused = ({ metadata }: MemoryEntry): boolean =>
      metadata?.[MEMORY_METADATA.runId] === run.id && metadata[MEMORY_METADATA.taskId] === taskId;
    const memory = memoryOfCall(call);
    for (const { name } of this.#scopesOf(call)) {
      await this.#tolerated(call, async () => {
        await memory.evict(name, {
          apply: (entries) => entries.filter((entry) => !isRefused(entry)),
        });
        return NOTHING;
      });
    }
  }

  /** Stores an accepted output. A failed write does not prevent the other writes. */
  async keep(call: DoneTask): Promise<void> {
    const { taskId, output, signal } = call;
    this.#told.delete(taskId);
    if (shortTermWindow(this.#team, undefined) !== undefined)
      this.run.recordMetrics(taskId, { memoryOperations: { shortTermEntriesWritten: 1 } });
    if (output.raw.trim() === "") return; // nothing to store, and a blank text can't be embedded
    this.#kept.add(taskId);
    const failures: Error[] = [];
    for (const write of this.#writesOf(call)) {
      try {
        await write();
      } catch (error) {
        if (signal.aborted || endsRun(error)) throw error;
        failures.push(toError(error));
      }
    }
    const thrown = this.#lenient ? undefined : failures.shift();
    for (const failure of failures)
      this.#warn(
        `The output of task '${taskLabel(call.task)}' is not remembered everywhere`,
        failure,
      );
    if (thrown !== undefined) throw thrown;
  }

  /**
   * Returns the writes in order. The verdict of a phase's review is stored only in the task's own
   * scopes. Other tasks do not need it.
   */
  #writesOf(call: DoneTask): readonly (() => Promise<void>)[] {
    const { longTerm } = this.#team;
    const scopes = this.#scopesOf(call);
    const learns = longTerm !== undefined && !(call.group instanceof PhaseReview);
    if (scopes.length === 0 && !learns) return NOTHING;
    const memory = memoryOfCall(call);
    const entry = entryOfOutput(call, call.output);
    const writes = scopes.map(({ name, eviction }) => async () => {
      await memory.store(name, entry);
      if (eviction !== undefined) await memory.evict(name, eviction);
    });
    return learns ? [...writes, () => memory.learn(longTerm, entry)] : writes;
  }

  async #ask(call: TaskCall, scopes: readonly MemoryScope[]): Promise<readonly PromptSection[]> {
    const memory = memoryOfCall(call);
    const { description } = call.task;
    const ofScope = async ({ name }: MemoryScope): Promise<PromptSection[]> =>
      this.#sections.scope(name, await memory.retrieve(name, description, SCOPE_RESULTS));
    const found = await Promise.all([
      ...scopes.map((scope) => this.#tolerated(call, () => ofScope(scope))),
      ...this.#askTeam(call, memory),
    ]);
    return found.flat();
  }

  #askTeam(call: TaskCall, memory: UsedMemory): readonly Promise<readonly PromptSection[]>[] {
    const { longTerm, entity, longTermMaxResults = LONG_TERM_RESULTS } = this.#team;
    const { description } = call.task;
    const recall =
      longTerm &&
      (async () =>
        this.#sections.longTerm(await memory.recall(longTerm, description, longTermMaxResults)));
    const lookUp = entity && (async () => this.#sections.entities(await memory.facts(entity)));
    return [recall, lookUp].flatMap((read) =>
      read === undefined ? [] : [this.#tolerated(call, read)],
    );
  }

  /**
   * Returns the result of `read`. With `memoryErrors: "warn"` a failure becomes a warning, and the
   * task continues without that part of its memory.
   */
  async #tolerated(
    call: TaskCall,
    read: () => Promise<readonly PromptSection[]>,
  ): Promise<readonly PromptSection[]> {
    try {
      return await read();
    } catch (error) {
      if (!this.#lenient || call.signal.aborted || endsRun(error)) throw error;
      this.#warn(`Task '${taskLabel(call.task)}' continues without a part of its memory`, error);
      return NOTHING;
    }
  }

  /**
   * Returns the latest outputs of the run and the outputs in the task's context. The prompt then
   * has no separate context section. A context output replaces the run's output of the same task.
   * The previous output of a revised task is not repeated.
   */
  #earlierOutputs({ contextOutputs, revision }: TaskCall, window: number): readonly TaskOutput[] {
    const given = new Set(contextOutputs);
    const outputs = this.run.outputs().flatMap((output) => {
      const instead = contextOutputs.filter(({ taskId }) => taskId === output.taskId);
      for (const used of instead) given.delete(used);
      return instead.length === 0 ? [output] : instead;
    });
    const others = outputs.filter((output) => !contextOutputs.includes(output));
    const old = new Set(others.slice(0, Math.max(0, others.length - window)));
    return [...outputs, ...given].filter(
      (output) => !old.has(output) && output.raw !== revision?.previousOutput,
    );
  }

  #scopesOf({ task }: TaskCall): readonly MemoryScope[] {
    if (task.memory.length === 0) return task.memory;
    if (this.#hasStore) return this.#named(task.memory);
    const names = task.memory.map(({ name }) => name).join(", ");
    if (!this.#warned)
      this.#tell(
        `Task '${taskLabel(task)}' declares memory (${names}), but there is no memory store: nothing is read or kept. Give the ensemble a memoryStore`,
      );
    this.#warned = true;
    return NOTHING;
  }

  /** Returns the scopes with their names in this run. A name function is called once. */
  #named(scopes: readonly MemoryScope[]): readonly MemoryScope[] {
    let named = this.#scopes.get(scopes);
    if (named === undefined)
      this.#scopes.set(scopes, (named = scopes.map((scope) => scope.inRun(this.run))));
    return named;
  }

  #warn(what: string, error: unknown): void {
    this.#tell(`${what}: ${messageOf(error)}`);
  }

  #tell(message: string): void {
    this.run.warn(message);
  }
}
