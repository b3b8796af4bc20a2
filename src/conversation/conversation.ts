import type { ThreadPage, ThreadQuery } from "../contracts/conversation.js";
import type { ScopeName } from "../contracts/run-info.js";
import type { ConversationOptions, ThreadOptions } from "./conversation-options.js";
import type { Thread } from "./thread.js";
import { checkRunValues } from "../contracts/run-value.js";
import { checkOptions } from "../contracts/validation.js";
import { checkThreadId } from "../plugins/conversation/shared/checks.js";
import { ConversationCore } from "./conversation-core.js";
import { RunningTurns } from "./running-turns.js";
import { ConversationThread } from "./thread.js";

/**
 * Chats with an agent in threads of several turns. Each turn is one run, with all features of a
 * run: hooks, budget, guardrails, reviews, trace and replay. The model receives the instructions of
 * the agent, the messages of the thread and the unchanged message of the user.
 *
 * @example const chat = new Conversation({ agent, model: "openai:gpt-5-mini" }); const { text } =
 * await chat.thread("user-42").send("My name is Ada.");
 * @throws ValidationError from the constructor for invalid options.
 */
export class Conversation {
  /** The option `name`. */
  readonly name: string | undefined;
  readonly #core: ConversationCore;
  readonly #running = new RunningTurns();

  constructor(options: ConversationOptions) {
    this.#core = new ConversationCore(options);
    this.name = options.name;
  }

  /**
   * Returns a new or stored thread, without reading the store. If `id` is a function, it creates
   * the id from the `values` of the thread.
   * @throws ValidationError for an id that is not a text of 1 to 256 characters without control
   * characters.
   */
  thread(id: ScopeName, options: ThreadOptions = {}): Thread {
    checkOptions("thread()", options, ["owner", "values"]);
    const { owner, values = [] } = options;
    checkRunValues(values);
    const threadId = this.#core.idOf(id, values);
    checkThreadId(threadId);
    return new ConversationThread(this.#core, this.#running, { id: threadId, owner, values });
  }

  /** Lists the stored threads, most recently changed first. Default: 100 threads of all owners. */
  async threads(query: ThreadQuery = {}): Promise<ThreadPage> {
    await this.#core.ready();
    return this.#core.store.list(query);
  }

  /**
   * Cancels the turns in progress, and disposes of the kernel if this conversation created it. Does
   * not close the store.
   */
  async dispose(): Promise<void> {
    await this.#running.shutDown("the conversation was disposed");
    await this.#core.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
