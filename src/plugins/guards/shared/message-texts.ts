import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";

/** Changes a text. Returns the same text if there is nothing to change. */
type Change = (text: string) => string;

/** Returns the text of a text file in base64. Returns `undefined` for any other part. */
function documentText(part: ContentPart): string | undefined {
  if (part.type !== "file" || typeof part.data !== "string") return undefined;
  const isText = /^(?:text\/|application\/json)/.test(part.mediaType);
  return !isText || /^(?:https?|data):/.test(part.data)
    ? undefined
    : Buffer.from(part.data, "base64").toString("utf8");
}

/**
 * Returns the part with its text changed. Images, sound, PDF files and addresses stay unchanged.
 */
export function changedPart(part: ContentPart, change: Change): ContentPart {
  if (part.type === "text") {
    const text = change(part.text);
    return text === part.text ? part : { ...part, text };
  }
  const text = documentText(part);
  if (text === undefined || part.type !== "file") return part;
  const changed = change(text);
  return changed === text ? part : { ...part, data: Buffer.from(changed).toString("base64") };
}

function changedParts(parts: readonly ContentPart[], change: Change): readonly ContentPart[] {
  const changed = parts.map((part) => changedPart(part, change));
  return changed.every((part, index) => part === parts[index]) ? parts : changed;
}

/** Returns the message with all its texts changed, or the same message. */
export function changedMessage(message: ChatMessage, change: Change): ChatMessage {
  if (message.role === "user") {
    const content =
      typeof message.content === "string"
        ? change(message.content)
        : changedParts(message.content, change);
    return content === message.content ? message : { ...message, content };
  }
  const content = change(message.content);
  if (message.role === "tool" && message.parts !== undefined) {
    const parts = changedParts(message.parts, change);
    if (parts !== message.parts) return { ...message, content, parts };
  }
  if (message.role === "assistant" && message.toolCalls !== undefined) {
    const toolCalls = message.toolCalls.map((call) => {
      const text = change(call.arguments);
      return text === call.arguments ? call : { ...call, arguments: text };
    });
    if (toolCalls.some((call, index) => call !== message.toolCalls?.[index]))
      return { ...message, content, toolCalls };
  }
  return content === message.content ? message : { ...message, content };
}

/**
 * Changes each message once, at its first call, and caches the result. The cost of a turn therefore
 * does not grow with the conversation.
 */
export class MessageChanger {
  readonly #changed = new WeakMap<ChatMessage, ChatMessage>();

  constructor(readonly change: (text: string) => string) {}

  /** Returns the same list if no message changes. */
  apply(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    let isSame = true;
    const result = messages.map((message) => {
      const changed = this.#one(message);
      isSame &&= changed === message;
      return changed;
    });
    return isSame ? messages : result;
  }

  #one(message: ChatMessage): ChatMessage {
    const known = this.#changed.get(message);
    if (known !== undefined) return known;
    const changed = changedMessage(message, this.change);
    this.#changed.set(message, changed);
    this.#changed.set(changed, changed);
    return changed;
  }
}

/**
 * Returns a JSON value with all its texts changed, or the same value. `change` receives the name of
 * the field before each text, for instance `password: `.
 */
export function changedValue(
  value: unknown,
  change: (text: string, before: string) => string,
  before = "",
): unknown {
  if (typeof value === "string") return change(value, before);
  if (Array.isArray(value)) {
    const changed = value.map((item) => changedValue(item, change, before));
    return changed.every((item, index) => item === value[index]) ? value : changed;
  }
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const entries = Object.entries(value);
  const changed = entries.map(
    ([key, item]) => [key, changedValue(item, change, `${key}: `)] as const,
  );
  return changed.every(([, item], index) => item === entries[index]?.[1])
    ? value
    : Object.fromEntries(changed);
}
