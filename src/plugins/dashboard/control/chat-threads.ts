import type {
  ThreadHead,
  ThreadMessage,
  ThreadPage,
  ThreadQuery,
} from "../../../contracts/conversation.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireText } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { NAME_RULE, isRegisteredName } from "./registrations.js";

/** The methods of a conversation that the dashboard uses. A `Conversation` implements them. */
export interface ChatThreads {
  threads(query?: ThreadQuery): Promise<ThreadPage>;
  thread(
    id: string,
    options?: { readonly owner?: string | undefined },
  ): {
    head(): Promise<ThreadHead | undefined>;
    messages(query?: {
      readonly limit?: number;
      readonly before?: string;
    }): Promise<readonly ThreadMessage[]>;
  };
}

/** Options for showing a conversation. */
export interface ConversationRegistration {
  readonly title?: string | undefined;
}

/** A registered conversation. */
export interface RegisteredConversation {
  readonly name: string;
  readonly chat: ChatThreads;
  readonly title: string | undefined;
}

/** The conversations whose threads users may read, by name. */
export class RegisteredChats {
  readonly #byName = new Map<string, RegisteredConversation>();

  get all(): readonly RegisteredConversation[] {
    return [...this.#byName.values()];
  }

  get(name: string): RegisteredConversation | undefined {
    return this.#byName.get(name);
  }

  /** Adds a conversation. @throws ValidationError */
  add(name: string, chat: ChatThreads, options: ConversationRegistration): void {
    const what = "dashboard registerConversation()";
    if (!isRegisteredName(name))
      throw new ValidationError(`${what} name must be ${NAME_RULE}, got: ${preview(name)}`);
    const given: unknown = chat;
    const missing = (["threads", "thread"] as const).find(
      (method) => !isObject(given) || typeof given[method] !== "function",
    );
    if (missing !== undefined)
      throw new ValidationError(
        `${what} '${name}' must get a conversation, got: ${preview(given)}`,
        { hint: `It has no ${missing}().` },
      );
    checkOptions(what, options, ["title"]);
    if (options.title !== undefined)
      requireText(options.title, `${what} title must not be blank when set`);
    if (this.#byName.has(name))
      throw new ValidationError(`A conversation '${name}' is registered on the dashboard already`);
    this.#byName.set(name, { name, chat, title: options.title });
  }
}
