import type {
  StoredTurn,
  ThreadHead,
  ThreadMessage,
  TurnResult,
} from "../contracts/conversation.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { RunHandle } from "../contracts/run.js";
import type { RunValue } from "../contracts/run-info.js";
import type { ConversationCore } from "./conversation-core.js";
import type { RunningTurns } from "./running-turns.js";
import type { ThreadUsage, TurnOptions } from "./conversation-options.js";
import type { TurnContent } from "./turn-input.js";
import type { TurnRequest } from "./turn.js";
import { ValidationError } from "../contracts/errors.js";
import { checkOptions, preview, requireInteger, requireText } from "../contracts/validation.js";
import { EventQueue } from "../ensemble/event-queue.js";
import { checkRunOptions } from "../ensemble/validation.js";
import { checkOwner, checkThreadId } from "../plugins/conversation/shared/checks.js";
import { threadTags, type TurnOwner } from "../plugins/shared/thread-tags.js";
import { cancelLeftTurns, leftTurn } from "./kept-turns.js";
import { runOptionsOf } from "./conversation-options.js";
import { turnInputOf } from "./turn-input.js";
import { freed, Turn } from "./turn.js";
import { roleAfter, TURN_TASK } from "./turn-record.js";
import { TurnRun } from "./turn-run.js";

/** Number of turns read at a time. */
const PAGE = 32;

/** A turn in progress. `output` and `result` settle together, when the turn has been stored. */
export interface TurnHandle extends RunHandle {
  readonly threadId: string;
  readonly result: Promise<TurnResult>;
  /** The pieces of the answer's text as they arrive. Can be read independently of `events`. */
  readonly text: AsyncIterable<string>;
}

/** A turn that continues after the end of its original process. */
export interface ResumedTurn extends TurnHandle {
  /** The user's message. `replaces`: the id of the turn that an edit replaces. */
  readonly question: {
    readonly id: string;
    readonly content: TurnContent;
    readonly replaces?: string | undefined;
  };
}

/** Selects messages of a thread. */
export interface MessageQuery {
  /** Maximum number of turns. Default: all. */
  readonly limit?: number | undefined;
  /** Selects only turns before the turn that has this message id or turn id. */
  readonly before?: string | undefined;
}

/** Options of a forked thread. */
export interface ForkOptions {
  /** The id of the new thread. Default: a generated id. */
  readonly id?: string | undefined;
  /** The owner of the new thread. Default: the owner of the original thread. */
  readonly owner?: string | undefined;
}

/**
 * A thread of turns. Each turn is one run. Turns of one thread wait for each other. Turns of
 * different threads are independent.
 *
 * All methods reject with `AccessDeniedError` if the thread belongs to another owner.
 */
export interface Thread {
  readonly id: string;
  readonly owner: string | undefined;
  /**
   * Sends a message to the agent, and stores the message with its answer.
   * @throws the error of the run, unless `throwOnError` is false; ValidationError, ThreadBusyError,
   * TurnQuotaError, ConversationConflictError and ConversationStoreError.
   */
  send(input: TurnContent, options?: TurnOptions): Promise<TurnResult>;
  /** As `send`, and returns the events of the run as they occur. */
  stream(input: TurnContent, options?: TurnOptions): TurnHandle;
  /** Returns the stored messages, oldest first. */
  messages(query?: MessageQuery): Promise<readonly ThreadMessage[]>;
  /** Returns the data of the thread. Returns `undefined` for a thread without turns. */
  head(): Promise<ThreadHead | undefined>;
  /**
   * Returns the amounts that the thread and its owner have used of their quotas in the current
   * windows.
   *
   * @throws LimitStoreError if the accounts of a backend can't be read.
   */
  usage(): Promise<ThreadUsage>;
  /**
   * Copies the thread up to the turn with this message id or turn id. Default: copies all turns.
   */
  fork(at?: string, options?: ForkOptions): Promise<Thread>;
  /**
   * Runs a turn again, with the same or another message of the user. The message keeps its id. When
   * the new turn is stored, it replaces the original turn and all later turns.
   */
  edit(at: string, input?: TurnContent, options?: TurnOptions): TurnHandle;
  /**
   * Continues the turn that was in progress when its process ended. Requires the plugin
   * `durable()`. Returns `undefined` if there is no such turn, or if the thread has changed in the
   * meantime.
   */
  resume(options?: Omit<TurnOptions, "runId" | "messageId">): Promise<ResumedTurn | undefined>;
  /** Sets the title. @throws ValidationError for a thread without turns. */
  rename(title: string): Promise<void>;
  /** Cancels the turn in progress, then deletes the thread. Returns whether the thread existed. */
  delete(): Promise<boolean>;
}

/** The id and the owner of a thread, and the conversation to which it belongs. */
export interface ThreadPlace {
  readonly id: string;
  readonly owner: string | undefined;
  readonly values: readonly RunValue[];
}

/** A thread of a conversation. */
export class ConversationThread implements Thread {
  readonly id: string;
  readonly owner: string | undefined;
  readonly #values: readonly RunValue[];
  readonly #core: ConversationCore;
  readonly #running: RunningTurns;
  /** Set by the first turn. */
  #tags: Readonly<Record<string, string>> | undefined;

  constructor(core: ConversationCore, running: RunningTurns, { id, owner, values }: ThreadPlace) {
    checkThreadId(id);
    checkOwner(owner);
    this.id = id;
    this.owner = owner;
    this.#values = values;
    this.#core = core;
    this.#running = running;
  }

  async send(input: TurnContent, options: TurnOptions = {}): Promise<TurnResult> {
    return this.#begin(this.#sending(input, options), undefined).result;
  }

  stream(input: TurnContent, options: TurnOptions = {}): TurnHandle {
    return this.#stream(this.#sending(input, options));
  }

  edit(at: string, input?: TurnContent, options: TurnOptions = {}): TurnHandle {
    const given = input === undefined ? undefined : turnInputOf(input, this.#core.limits);
    return this.#stream({
      ...this.#requestOf(options),
      prepare: async (_store, head) => {
        const turn = await this.#turnAt(at, head);
        const { messageId = turn.messages[0]?.id } = options;
        return { input: given ?? turnInputOf(questionOf(turn)), keep: turn.n, messageId };
      },
    });
  }

  async messages(query: MessageQuery = {}): Promise<readonly ThreadMessage[]> {
    checkOptions("messages()", query, ["limit", "before"]);
    requireInteger("messages() limit", query.limit, 1);
    const head = await this.head();
    if (head === undefined) return [];
    const before =
      query.before === undefined ? head.turns : (await this.#turnAt(query.before, head)).n;
    const turns = await this.#turns(Math.max(0, before - (query.limit ?? before)), before);
    return turns.flatMap(({ messages }) => messages);
  }

  head(): Promise<ThreadHead | undefined> {
    return this.#core.openOwned(this.id, this.owner);
  }

  async usage(): Promise<ThreadUsage> {
    await this.head(); // rejects for another owner
    return (await this.#core.quotas?.usageOf(this.#place)) ?? {};
  }

  async fork(at?: string, options: ForkOptions = {}): Promise<Thread> {
    checkOptions("fork()", options, ["id", "owner"]);
    const { id = this.#core.nextId(), owner = this.owner } = options;
    const fork = new ConversationThread(this.#core, this.#running, {
      id,
      owner,
      values: this.#values,
    });
    const head = await this.head();
    if (head === undefined) {
      if (at === undefined) return fork;
      throw noSuchTurn(at);
    }
    if ((await this.#core.store.open(id)) !== undefined)
      throw new ValidationError(`fork() can't create thread '${id}', because it exists`, {
        hint: "Pass another id, or none to get a new one.",
      });
    const count = at === undefined ? head.turns : (await this.#turnAt(at, head)).n + 1;
    const { summary, title } = head;
    const turns = await this.#turns(0, count);
    const agentRole = count === head.turns ? head.agentRole : roleAfter(turns.at(-1));
    await this.#core.store.append(id, {
      expectedVersion: 0,
      turns,
      ...(owner !== undefined && { owner }),
      ...(title !== undefined && { title }),
      ...(summary !== undefined && summary.upTo < count && { summary }),
      ...(agentRole !== undefined && { agentRole }),
    });
    return fork;
  }

  async resume(options: TurnOptions = {}): Promise<ResumedTurn | undefined> {
    const head = await this.head();
    const left = await leftTurn(this.#core.journals, this.#place, head?.version ?? 0);
    if (left === undefined) return undefined;
    const { runId, message } = left;
    const { keep, content, messageId } = message;
    const [replaced] = keep < (head?.turns ?? 0) ? await this.#turns(keep, keep + 1) : [];
    const input = turnInputOf(content);
    const handle = this.#stream({
      ...this.#requestOf({ ...options, runId }),
      prepare: () => Promise.resolve({ input, keep, messageId }),
    });
    const id = messageId ?? `${runId}-0`;
    return { ...handle, question: { id, content, replaces: replaced?.turnId } };
  }

  async rename(title: string): Promise<void> {
    requireText(title, `The title of a thread must be text, got: ${preview(title, 60)}`);
    await this.#core.ready();
    const lock = await this.#core.store.lock?.(this.id, {
      timeoutMs: this.#core.busyTimeoutMs,
      signal: new AbortController().signal,
    });
    try {
      const head = await this.head();
      if (head === undefined)
        throw new ValidationError(`Thread '${this.id}' has no turn, so it can't have a title`);
      await this.#core.store.append(this.id, { expectedVersion: head.version, title });
    } finally {
      await freed(lock, this.id);
    }
  }

  async delete(): Promise<boolean> {
    await this.head();
    await this.#running.cancel(this.#place, "the thread was deleted");
    await cancelLeftTurns(this.#core.journals, this.#place);
    const head = await this.head(); // the first turn of another owner may have been stored
    return head !== undefined && this.#core.store.delete(this.id);
  }

  get #place(): TurnOwner {
    return { threadId: this.id, owner: this.owner };
  }

  #requestOf(options: TurnOptions): Omit<TurnRequest, "prepare"> {
    return { threadId: this.id, owner: this.owner, options };
  }

  #sending(input: TurnContent, options: TurnOptions): TurnRequest {
    const checked = turnInputOf(input, this.#core.limits);
    return {
      ...this.#requestOf(options),
      prepare: (_store, head) => Promise.resolve({ input: checked, keep: head?.turns ?? 0 }),
    };
  }

  #begin(
    request: TurnRequest,
    listen: ((event: EnsembleEvent) => void) | undefined,
  ): { readonly id: string; readonly run: TurnRun; readonly result: Promise<TurnResult> } {
    const { options } = request;
    const given = runOptionsOf(options);
    checkRunOptions(given);
    const id = given.runId ?? this.#core.nextId("run");
    const values = this.#valuesWith(given.values);
    const run = new TurnRun(
      this.#core,
      {
        runId: id,
        turnOptions: options,
        options: {
          ...given,
          runId: id,
          tags:
            given.tags === undefined ? this.#threadTags : { ...given.tags, ...this.#threadTags },
          throwOnError: false, // the turn reads the error from the output
          ...(values.length > 0 && { values }),
        },
      },
      listen,
    );
    const result = new Turn(this.#core, request, run).perform();
    this.#running.add(this.#place, { cancel: (reason, o) => run.cancel(reason, o), end: result });
    return { id, run, result };
  }

  get #threadTags(): Readonly<Record<string, string>> {
    return (this.#tags ??= threadTags(this.#place));
  }

  /** Returns the values of a turn, then those of the thread for which the turn has no value. */
  #valuesWith(given: readonly RunValue[] = []): readonly RunValue[] {
    const others = this.#values.filter(({ token }) => !given.some((v) => v.token === token));
    return given.concat(others);
  }

  #stream(request: TurnRequest): TurnHandle {
    const events = new EventQueue();
    const tokens = new EventQueue();
    const { id, run, result } = this.#begin(request, (event) => {
      events.push(event);
      if (event.type === "token" && event.taskId === TURN_TASK) tokens.push(event);
    });
    const output = result
      .then((turn) => turn.output)
      .finally(() => {
        events.end();
        tokens.end();
      });
    // A caller that reads only the events causes no unhandled rejection.
    output.catch(() => undefined);
    return {
      id,
      threadId: this.id,
      events,
      text: { [Symbol.asyncIterator]: () => textOf(tokens) },
      output,
      result,
      cancel: (reason) => run.cancel(reason),
    };
  }

  /** Returns the turns from number `from` up to `to`. */
  async #turns(from: number, to: number): Promise<readonly StoredTurn[]> {
    return to > from ? this.#core.store.read(this.id, { limit: to - from, before: to }) : [];
  }

  /** Returns the turn with a message or turn id, searched from the end. @throws ValidationError */
  async #turnAt(at: string, head: ThreadHead | undefined): Promise<StoredTurn> {
    requireText(at, `A message id must be text, got: ${preview(at, 60)}`);
    for (let before = head?.turns ?? 0; before > 0; before -= PAGE) {
      const turns = await this.#turns(Math.max(0, before - PAGE), before);
      const found = turns.find((turn) => hasId(turn, at));
      if (found !== undefined) return found;
    }
    throw noSuchTurn(at);
  }
}

/** A page identifies the complete answer of a turn by `{turnId}-a`. */
function hasId({ turnId, messages }: StoredTurn, at: string): boolean {
  return at === turnId || at === `${turnId}-a` || messages.some(({ id }) => id === at);
}

function noSuchTurn(at: string): ValidationError {
  return new ValidationError(`The thread has no message '${preview(at, 60)}'`, {
    about: "messageId",
  });
}

function questionOf({ messages, turnId }: StoredTurn): TurnContent {
  const [question] = messages;
  if (question?.role === "user") return question.content;
  throw new ValidationError(`Turn '${turnId}' does not begin with a message of the user`);
}

async function* textOf(tokens: EventQueue): AsyncGenerator<string, void, void> {
  for await (const event of tokens) if (event.type === "token") yield event.token;
}
