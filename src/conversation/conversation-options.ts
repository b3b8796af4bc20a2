import type { Agent, Handoffs } from "../contracts/agent.js";
import type { AttachmentLimits } from "../contracts/content.js";
import type { ModelOptions } from "../contracts/chat-model.js";
import type { ConversationStore, WindowPolicy } from "../contracts/conversation.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { CallerQuota, QuotaState } from "../contracts/queue-options.js";
import type { InputGuardrail, OutputGuardrail } from "../contracts/guardrail.js";
import type { ScopeName } from "../contracts/run-info.js";
import type { RunOptions } from "../contracts/run.js";
import type { RunValue } from "../contracts/run-info.js";
import type { ToolLike } from "../contracts/tool.js";
import { Agent as AgentClass } from "../contracts/agent.js";
import { ValidationError } from "../contracts/errors.js";
import { checkCallerQuota } from "../contracts/queue-options.js";
import { SERVICE_OPTIONS } from "../contracts/service-options.js";
import { checkTools } from "../contracts/tool.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDelay,
  requireFunction,
  requireInstance,
  requireOneOf,
} from "../contracts/validation.js";
import { checkEnsembleOptions, ENSEMBLE_OPTIONS, RUN_OPTIONS } from "../ensemble/validation.js";

/** Options of ensembles that concern tasks or services, or differ in conversations. */
const TASK_OPTIONS = [
  ...["tasks", "phases", "loops", "graph", "workflow", "inputs", "inputType", "memory"],
  ...["parallelErrorStrategy", "maxConcurrency", "reviewPolicy", "agentSynthesizer"],
  ...["hierarchicalConstraints", "reflectionStore"],
  ...["managerModel", "managerModelOptions", "managerMaxIterations", "managerPromptStrategy"],
  ...SERVICE_OPTIONS,
] as const;

type TaskOption =
  | "tasks"
  | "phases"
  | "loops"
  | "graph"
  | "workflow"
  | "inputs"
  | "inputType"
  | "memory"
  | "parallelErrorStrategy"
  | "maxConcurrency"
  | "reviewPolicy"
  | "agentSynthesizer"
  | "hierarchicalConstraints"
  | "reflectionStore"
  | "managerModel"
  | "managerModelOptions"
  | "managerMaxIterations"
  | "managerPromptStrategy"
  | (typeof SERVICE_OPTIONS)[number];

/** The treatment of a turn that fails or is cancelled. */
export type OnTurnFailure = "discard" | "keep";

/** Guardrails that judge every turn. */
export interface TurnGuardrails {
  /** Judge the user's text before any model call. Default: none. */
  readonly input?: readonly InputGuardrail[] | undefined;
  /** Judge the answer before it is stored. Default: none. */
  readonly output?: readonly OutputGuardrail<string>[] | undefined;
}

/**
 * Options of a conversation: its agent, its threads, and the options of ensembles that do not
 * concern tasks.
 */
export interface ConversationOptions extends Omit<EnsembleOptions, TaskOption> {
  /** The agent that answers. */
  readonly agent: Agent;
  /** Tools in addition to the tools of the agent. Default: none. */
  readonly tools?: readonly ToolLike[] | undefined;
  /**
   * Further agents of the conversation. `agent` and these agents may transfer the thread to each
   * other. Default: each agent has only its own handoffs.
   */
  readonly handoffs?: Handoffs | undefined;
  /**
   * The agent that begins a turn. `last` (default): the agent that answered last. `first`: `agent`.
   */
  readonly nextAgent?: "last" | "first" | undefined;
  readonly guardrails?: TurnGuardrails | undefined;
  /**
   * The store of the threads. Default: `Tokens.ConversationStore` of the container, else a store in
   * memory.
   */
  readonly store?: ConversationStore | undefined;
  /**
   * Selects the messages of a thread that the model receives. Default: `Tokens.WindowPolicy` of the
   * container, else the last 50 turns.
   */
  readonly window?: WindowPolicy | undefined;
  /**
   * Limits of the parts of a message. Without this option, the limits of size and number of
   * {@link AttachmentLimits} apply, and the model determines the accepted media types.
   */
  readonly limits?: AttachmentLimits | undefined;
  /**
   * Scopes of the memory store. Their entries are added to the instructions. Each message of the
   * user is written to them with its answer, as one entry. `memoryErrors` is then `warn` by
   * default. Default: none.
   */
  readonly memoryScopes?: readonly ScopeName[] | undefined;
  /**
   * The treatment of a second turn of a thread during a turn. `wait` (default): the second turn
   * waits. `refuse`: it is refused with `ThreadBusyError`.
   */
  readonly busy?: "wait" | "refuse" | undefined;
  /** Time limit of the wait for the previous turn, in milliseconds. Default 30,000. */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * `discard` (default): a turn that fails or is cancelled does not change the thread. `keep`: the
   * message and the partial answer are stored with the status of the turn.
   */
  readonly onFailure?: OnTurnFailure | undefined;
  /**
   * Limits per window for the turns of one owner, counted over all threads. Threads without an
   * owner are counted together. A function returns the quota of an owner. A turn beyond the quota
   * is refused with `TurnQuotaError`. Default: no limit.
   */
  readonly quota?: OwnerQuota | undefined;
  /** Limits per window for the turns of one thread, in addition to `quota`. Default: no limit. */
  readonly threadQuota?: ThreadQuota | undefined;
}

/** The quota of each owner. A function returns `undefined` for an owner without limits. */
export type OwnerQuota = CallerQuota | ((owner: string | undefined) => CallerQuota | undefined);

/** The quota of each thread. A function returns `undefined` for a thread without limits. */
export type ThreadQuota =
  CallerQuota | ((threadId: string, owner: string | undefined) => CallerQuota | undefined);

/**
 * The used amounts of the quotas of a thread and of its owner. A field is absent if there is no
 * such quota.
 */
export interface ThreadUsage {
  /** The amounts of all threads of the owner together. */
  readonly owner?: QuotaState | undefined;
  readonly thread?: QuotaState | undefined;
}

/** Options of one turn. */
export interface TurnOptions extends RunOptions {
  /**
   * The id of the user's message. A message whose id is already in the thread is refused. Default:
   * derived from the id of the turn.
   */
  readonly messageId?: string | undefined;
  /** Overrides the option of the conversation. */
  readonly onFailure?: OnTurnFailure | undefined;
  /** Options of the turn's model calls. They override the options of the agent. */
  readonly modelOptions?: ModelOptions | undefined;
  /** The agent that answers this turn. Default: see the option `nextAgent`. */
  readonly agent?: Agent | undefined;
}

/** Options of a thread. */
export interface ThreadOptions {
  /**
   * The owner of the thread. Opening an existing thread of another owner fails with
   * `AccessDeniedError`. Default: no owner.
   */
  readonly owner?: string | undefined;
  /**
   * Values for the runs of the thread's turns. The values of a turn take precedence. Default: none.
   */
  readonly values?: readonly RunValue[] | undefined;
}

const OWN = [
  ...[
    "agent",
    "tools",
    "handoffs",
    "nextAgent",
    "guardrails",
    "store",
    "window",
    "limits",
    "memoryScopes",
  ],
  ...["busy", "busyTimeoutMs", "onFailure", "quota", "threadQuota"],
];
/** Option names of other frameworks, and names of options of other objects. */
const SYNONYMS = Object.freeze({
  systemPrompt: "`background` of the agent",
  instructions: "`background` of the agent",
  maxIterations: "`maxIterations` of the agent",
  memory: "memoryScopes, or a window for the messages of the thread",
  storage: "store",
});
const SHARED = ENSEMBLE_OPTIONS.filter(
  (name) => !(TASK_OPTIONS as readonly string[]).includes(name),
);

/** Returns the options of the runs of all turns. @throws ValidationError */
export function checkConversationOptions(o: ConversationOptions): EnsembleOptions {
  checkOptions("Conversation", o, [...OWN, ...SHARED], SYNONYMS);
  if ((o.agent as unknown) === undefined)
    throw new ValidationError("Conversation must have an agent", {
      hint: 'For instance: new Conversation({ agent: new Agent({ role: "Assistant", goal: "Helps" }), model: "openai:gpt-5-mini" }).',
    });
  checkAgent("Conversation agent", o.agent);
  requireArray("Conversation tools", o.tools);
  checkTools("Conversation tool", o.tools ?? []);
  requireOneOf("Conversation nextAgent", o.nextAgent, ["last", "first"]);
  checkGuardrails(o.guardrails);
  requireMethods("Conversation store", o.store, {
    methods: ["open", "read", "append", "list", "delete"],
    hint: 'For instance: ConversationStore.file("./threads").',
  });
  requireMethods("Conversation window", o.window, {
    methods: ["select"],
    hint: "For instance: WindowPolicy.lastTurns(20).",
  });
  requireArray("Conversation memoryScopes", o.memoryScopes);
  requireOneOf("Conversation busy", o.busy, ["wait", "refuse"]);
  requireDelay("Conversation busyTimeoutMs", o.busyTimeoutMs);
  if (o.busy === "refuse" && o.busyTimeoutMs !== undefined)
    throw new ValidationError(
      'Conversation busyTimeoutMs has no effect with busy "refuse": a second turn does not wait',
    );
  requireOneOf("Conversation onFailure", o.onFailure, ["discard", "keep"]);
  checkQuotas(o);
  const own = new Set(OWN);
  const shared: EnsembleOptions = Object.freeze({
    ...((o.memoryScopes ?? []).length > 0 && { memoryErrors: "warn" }), // the answer has already caused cost
    ...Object.fromEntries(
      Object.entries(o).filter(([name, value]) => value !== undefined && !own.has(name)),
    ),
  });
  checkEnsembleOptions(shared);
  return shared;
}

function checkAgent(what: string, agent: unknown): void {
  if (agent !== undefined) requireInstance(what, agent, { type: AgentClass, name: "Agent" });
}

function checkGuardrails(guardrails: unknown): void {
  if (guardrails === undefined) return;
  if (Array.isArray(guardrails))
    throw new ValidationError("Conversation guardrails must be { input, output }, not a list", {
      hint: "Guardrails of `input` judge the message of the user, those of `output` the answer.",
    });
  checkOptions("Conversation guardrails", guardrails, ["input", "output"]);
  for (const [side, list] of Object.entries(guardrails as TurnGuardrails)) {
    requireArray(`Conversation guardrails.${side}`, list);
    (list as readonly unknown[] | undefined)?.forEach((guardrail, i) =>
      requireFunction(`Conversation guardrails.${side}[${i}]`, guardrail ?? null),
    );
  }
}

function checkQuotas({ quota, threadQuota }: ConversationOptions): void {
  for (const [name, given] of Object.entries({ quota, threadQuota }))
    if (given !== undefined && typeof given !== "function")
      checkCallerQuota(`Conversation ${name}`, given);
}

function requireMethods(
  what: string,
  value: unknown,
  { methods, hint }: { readonly methods: readonly string[]; readonly hint: string },
): void {
  if (value === undefined) return;
  for (const method of methods)
    if (typeof (value as Readonly<Record<string, unknown>> | null)?.[method] !== "function")
      throw new ValidationError(`${what} must have a method ${method}, got: ${preview(value)}`, {
        hint,
      });
}

const TURN_OPTIONS = ["messageId", "onFailure", "modelOptions", "agent", ...RUN_OPTIONS];

/**
 * Returns the options of a turn that apply to its run.
 * @throws ValidationError for invalid options of the turn.
 */
export function runOptionsOf(o: TurnOptions): RunOptions {
  checkOptions("Turn", o, TURN_OPTIONS);
  const { messageId, onFailure, modelOptions: _modelOptions, agent, ...run } = o;
  requireOneOf("onFailure", onFailure, ["discard", "keep"]);
  checkAgent("The agent of a turn", agent);
  if (
    messageId !== undefined &&
    !(typeof messageId === "string" && /^\P{Cc}{1,256}$/u.test(messageId))
  )
    throw new ValidationError(
      `messageId must be text of 1 to 256 characters without control characters, got: ${preview(messageId, 60)}`,
    );
  return run;
}
