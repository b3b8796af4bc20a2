import type { Agent } from "../contracts/agent.js";
import type {
  ConversationStore,
  ThreadHead,
  ThreadSummary,
  WindowPolicy,
} from "../contracts/conversation.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { ResumableRuns } from "../contracts/journal.js";
import type { RunInfo, RunValue, ScopeName } from "../contracts/run-info.js";
import type { AnyTask, PlainTaskOptions } from "../contracts/task.js";
import type { Token } from "../contracts/token.js";
import type { Settings } from "../engine/plan/settings.js";
import type { RunRequest } from "../engine/run/prepare-run.js";
import type { ChatTurns, ThreadWindow, WindowReader } from "../plugins/agents/chat/index.js";
import type { ConversationOptions, OnTurnFailure } from "./conversation-options.js";
import { ValidationError } from "../contracts/errors.js";
import { partLimits, type PartLimits } from "../contracts/attachment.js";
import { valuesByToken } from "../contracts/run-value.js";
import { AccessDeniedError } from "../contracts/state-errors.js";
import { Tokens } from "../contracts/tokens.js";
import { tokenName } from "../contracts/token.js";
import { checkModels } from "../ensemble/check-models.js";
import { openKernel, type OpenKernel } from "../ensemble/open-kernel.js";
import { unusedOptions } from "../ensemble/unused-options.js";
import { validateRun } from "../ensemble/validate-run.js";
import { noteKeptSource } from "../plugins/shared/memory/kept-source.js";
import { ChatTurnsToken } from "../plugins/agents/chat/index.js";
import { InMemoryThreads } from "../plugins/conversation/memory-store/in-memory-threads.js";
import { lastTurns } from "../plugins/conversation/windows/window-policies.js";
import { checkConversationOptions } from "./conversation-options.js";
import { ConversationTeam } from "./conversation-team.js";
import { countMessageTokens } from "./count-tokens.js";
import { TURN_TASK } from "./turn-record.js";
import { TurnQuotas } from "./turn-quotas.js";

const BUSY_TIMEOUT_MS = 30_000;
const WINDOW = 50;

/**
 * The message of the error omits the description of the task, because it is the text of the user.
 * @throws ValidationError
 */
function requireModel({ agent }: AnyTask, settings: Settings): void {
  if (agent === undefined || settings.model(undefined, agent) !== undefined) return;
  throw new ValidationError(`Agent '${agent.role}' of the conversation has no model`, {
    hint: 'Set `model` on the conversation or its agent, for instance "openai:gpt-5-mini", or bind Tokens.ChatModel in the container.',
  });
}

/** The thread of a turn, as input of its window. */
export interface WindowSource {
  readonly store: ConversationStore;
  readonly threadId: string;
  readonly head: ThreadHead | undefined;
  /** The number of turns before this turn. */
  readonly keep: number;
}

/** The parts of the request of a run that its turn determines. */
type TurnParts = Pick<RunRequest, "runOptions" | "streaming" | "handle" | "onEvent">;

/** The common parts of all threads of a conversation. */
export class ConversationCore {
  readonly onFailure: OnTurnFailure;
  readonly busyTimeoutMs: number;
  /** For the tasks of all turns. */
  readonly taskOptions: Pick<
    PlainTaskOptions<string>,
    "inputGuardrails" | "outputGuardrails" | "memory"
  >;
  /** For the parts of a message. */
  readonly limits: PartLimits | undefined;
  readonly #o: ConversationOptions;
  readonly #kernel: OpenKernel;
  readonly #shared: EnsembleOptions;
  readonly #team: ConversationTeam;
  #store: ConversationStore | undefined;
  #window: WindowPolicy | undefined;
  #quotas: TurnQuotas | undefined;

  /** @throws ValidationError */
  constructor(o: ConversationOptions) {
    this.#shared = checkConversationOptions(o);
    this.#o = o;
    this.limits = o.limits === undefined ? undefined : partLimits("Conversation limits", o.limits);
    this.onFailure = o.onFailure ?? "discard";
    this.busyTimeoutMs = o.busy === "refuse" ? 0 : (o.busyTimeoutMs ?? BUSY_TIMEOUT_MS);
    this.taskOptions = {
      inputGuardrails: o.guardrails?.input,
      outputGuardrails: o.guardrails?.output,
      memory: o.memoryScopes,
    };
    this.#team = new ConversationTeam(o);
    this.#kernel = openKernel("Conversation", o);
  }

  /** Boots the kernel. @throws ValidationError for a quota that limits the cost without prices. */
  async ready(): Promise<void> {
    await this.#kernel.internals.ready();
    const { name, quota, threadQuota, costConfiguration } = this.#o;
    if ((quota ?? threadQuota) === undefined || this.#quotas !== undefined) return;
    this.#quotas = new TurnQuotas(
      { quota, threadQuota },
      {
        conversation: name,
        clock: this.#kernel.internals.bindings.get(Tokens.Clock),
        accounts: this.#kernel.internals.bindings.get(Tokens.BudgetAccounts),
        prices: costConfiguration ?? this.#bound(Tokens.CostConfiguration),
      },
    );
  }

  /** The quotas of turns. `undefined` without limits, and before {@link ready}. */
  get quotas(): TurnQuotas | undefined {
    return this.#quotas;
  }

  get store(): ConversationStore {
    return (this.#store ??=
      this.#o.store ?? this.#bound(Tokens.ConversationStore) ?? new InMemoryThreads());
  }

  get #policy(): WindowPolicy {
    return (this.#window ??=
      this.#o.window ?? this.#bound(Tokens.WindowPolicy) ?? lastTurns(WINDOW));
  }

  get turns(): ChatTurns {
    return this.#kernel.internals.bindings.get(ChatTurnsToken);
  }

  /** Journals that keep runs, of plugins. */
  get journals(): readonly ResumableRuns[] {
    return this.#kernel.internals.bindings.all(Tokens.KeptRuns);
  }

  now(): Date {
    return this.#kernel.internals.bindings.get(Tokens.Clock).now();
  }

  /** Returns a new id. Starts the boot of the kernel, because ids come from the container. */
  nextId(use?: "run"): string {
    void this.ready().catch(() => undefined); // callers that wait for the boot receive the error
    return this.#kernel.internals.bindings.get(Tokens.IdGenerator).next(use);
  }

  /** Releases the id of a run that was refused before its start. */
  giveBack(id: string): void {
    this.#kernel.internals.bindings.find(Tokens.IdGenerator)?.giveBack?.(id);
  }

  /** The role of the agent that begins the first turn. */
  get firstRole(): string {
    return this.#team.first.role;
  }

  /**
   * Returns the agent that begins a turn, and a warning. `now` is the current role of the thread.
   * `before` returns the role after the kept turns. This role can differ only if there are several
   * agents.
   */
  async beginnerOf(
    given: Agent | undefined,
    now: string | undefined,
    before: () => Promise<string | undefined>,
  ): Promise<{ readonly agent: Agent; readonly warning?: string }> {
    const { first } = this.#team;
    if (given !== undefined) return { agent: this.#team.equipped(given) };
    if (this.#o.nextAgent === "first") return { agent: first };
    const role = this.#team.hasHandoffs ? await before() : now;
    const agent = role === undefined ? first : this.#team.withRole(role);
    if (agent !== undefined) return { agent };
    const warning = `The thread was with agent '${role}', which this conversation does not have: '${first.role}' answers`;
    return { agent: first, warning };
  }

  /**
   * Returns the thread, or `undefined`.
   * @throws AccessDeniedError for the thread of another owner.
   */
  async openOwned(threadId: string, owner: string | undefined): Promise<ThreadHead | undefined> {
    await this.ready();
    const head = await this.store.open(threadId);
    if (head === undefined || head.owner === owner) return head;
    throw new AccessDeniedError("The thread belongs to another owner", {
      hint: "Name its owner: conversation.thread(id, { owner }).",
    });
  }

  /** Returns the request for the run of one task. */
  requestOf(task: AnyTask, { runOptions, streaming, onEvent, handle }: TurnParts): RunRequest {
    return {
      kernel: this.#kernel.internals,
      options: this.#shared,
      shape: {
        entries: [{ task, id: TURN_TASK }],
        workflow: "SEQUENTIAL",
        validate: (plan, settings, workflow) => {
          requireModel(task, settings);
          validateRun(plan, settings, workflow);
        },
        checkModels,
        warnings: unusedOptions,
      },
      inputs: {},
      runOptions,
      streaming,
      onEvent,
      handle,
    };
  }

  /** Selects the messages for the model. Stores a new summary in `work`. */
  async selectWindow(
    { scope, summarize }: WindowReader,
    { store, threadId, head, keep }: WindowSource,
    work: { summary: ThreadSummary | undefined; turnsInWindow: number },
  ): Promise<ThreadWindow> {
    if (head === undefined || keep === 0) return { turns: [] };
    const { summary } = head;
    const isSound = summary !== undefined && summary.upTo < keep;
    const counter = scope.get(Tokens.TokenCounter);
    let untrusted = isSound ? summary.untrusted : undefined;
    const chosen = await this.#policy.select({
      head: { ...head, turns: keep, summary: isSound ? summary : undefined },
      read: async ({ limit, before = keep }) => {
        const turns = await store.read(threadId, { limit, before: Math.min(before, keep) });
        untrusted ??= turns.find((turn) => turn.untrusted !== undefined)?.untrusted;
        return turns;
      },
      countTokens: (messages) => countMessageTokens(messages, counter),
      summarize,
      run: scope.run,
      signal: scope.signal,
      warn: (message) => scope.run.warn(message),
    });
    if (untrusted !== undefined) noteKeptSource(scope.run, "turn stored", untrusted);
    if (chosen.summary !== undefined && chosen.summary.text !== summary?.text)
      work.summary = { ...chosen.summary, ...(untrusted !== undefined && { untrusted }) };
    work.turnsInWindow = chosen.turns.length;
    return { turns: chosen.turns, summary: chosen.summary?.text };
  }

  /**
   * Returns the id of a thread. A function may create the id from the values of the thread.
   * @throws ValidationError
   */
  idOf(id: ScopeName, values: readonly RunValue[]): unknown {
    if (typeof id !== "function") return id;
    const known = valuesByToken(values);
    const find = <T>(token: Token<T>): T | undefined =>
      known.has(token) ? (known.get(token) as T) : this.#bound(token); // stored under this token
    const run: RunInfo = {
      id: "",
      inputs: {},
      tags: {},
      find,
      get: <T>(token: Token<T>): T => {
        const value = find(token);
        if (value !== undefined) return value;
        throw new ValidationError(`The thread has no value of '${tokenName(token)}'`, {
          hint: "Give it: conversation.thread(id, { values: [runValue(token, value)] }).",
        });
      },
    };
    return id(run);
  }

  /** Disposes the kernel that this object created. */
  async dispose(): Promise<void> {
    const { owned, kernel } = this.#kernel;
    if (owned) await kernel.dispose();
  }

  #bound<T>(token: Token<T>): T | undefined {
    return this.#kernel.internals.bindings.find(token);
  }
}
