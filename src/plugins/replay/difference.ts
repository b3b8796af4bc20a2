import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import type { RecordedCall } from "./recording.js";
import { preview } from "../../contracts/validation.js";
import { textWithParts } from "../shared/message-text.js";
import { canonicalJson } from "../../util/json/canonical.js";

/** A request without a recorded answer, and its place. */
export interface UnknownRequest {
  readonly request: ChatRequest;
  readonly run: string | undefined;
  readonly task: string;
  readonly iteration: number;
  readonly provider: string;
  readonly modelId: string;
  readonly purpose: string;
}

/** Maximum number of recorded calls that are compared with a request. */
const LOOKED_AT = 1_000;
/** Number of shown characters of the common part before a difference. */
const BEFORE = 40;

/**
 * Returns the recorded call most similar to a request. Calls of the same task are preferred, then
 * the one with the longest equal beginning.
 */
export function nearestCall(
  calls: readonly RecordedCall[],
  asked: UnknownRequest,
): RecordedCall | undefined {
  const ofTask = calls.filter(
    ({ task, run }) => task === asked.task && (asked.run === undefined || run === asked.run),
  );
  const candidates = (ofTask.length > 0 ? ofTask : calls).slice(0, LOOKED_AT);
  const now = asked.request.messages.map(comparedText);
  let nearest: RecordedCall | undefined;
  let most = -1;
  for (const call of candidates) {
    const score =
      commonStart((call.messages ?? []).map(comparedText), now) * 10 +
      (call.iteration === asked.iteration ? 5 : 0) +
      (call.purpose === asked.purpose ? 1 : 0);
    if (score > most) [nearest, most] = [call, score];
  }
  return nearest;
}

/** Describes the difference in a sentence with both sides. Returns `undefined` if there is none. */
export function differenceOf(recorded: RecordedCall, asked: UnknownRequest): string | undefined {
  const { request } = asked;
  const models = [
    `${recorded.provider}:${recorded.modelId}`,
    `${asked.provider}:${asked.modelId}`,
  ] as const;
  if (models[0] !== models[1]) return sides("the model", ...models);
  if (recorded.purpose !== asked.purpose)
    return sides("the purpose", recorded.purpose, asked.purpose);
  const before = recorded.messages ?? [];
  return (
    conversationDifference(before, request.messages) ??
    fileDifference(before, request.messages) ??
    optionsDifference(recorded.request ?? {}, request)
  );
}

/** Returns the difference in the first message that differs. */
export function conversationDifference(
  recorded: readonly ChatMessage[],
  asked: readonly ChatMessage[],
): string | undefined {
  const [before, now] = [recorded.map(comparedText), asked.map(comparedText)];
  const index = commonStart(before, now);
  const [was, is] = [before[index], now[index]];
  if (was === undefined && is === undefined) return undefined;
  return sides(
    `message ${index + 1}`,
    ...(was === undefined || is === undefined ? ([was, is] as const) : windows(was, is)),
  );
}

/** Returns the difference of files, for conversations with equal texts. */
function fileDifference(
  recorded: readonly ChatMessage[],
  asked: readonly ChatMessage[],
): string | undefined {
  const index = commonStart(recorded.map(filesOf), asked.map(filesOf));
  return index < asked.length ? `an image or a file of message ${index + 1}` : undefined;
}

function filesOf(message: ChatMessage): string {
  const parts = message.role === "tool" ? (message.parts ?? []) : message.content;
  return typeof parts === "string"
    ? ""
    : JSON.stringify(parts.filter(({ type }) => type !== "text"));
}

function optionsDifference(
  recorded: Omit<ChatRequest, "messages">,
  asked: ChatRequest,
): string | undefined {
  const { messages: _, ...options } = asked;
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(options)])].sort();
  for (const name of names) {
    const [was, is] = [jsonIn(recorded, name), jsonIn(options, name)];
    if (was !== is)
      return sides(
        `'${name}'`,
        ...(was === undefined || is === undefined ? ([was, is] as const) : windows(was, is)),
      );
  }
  return undefined;
}

function jsonIn(options: object, name: string): string | undefined {
  const value = (options as Readonly<Record<string, unknown>>)[name]; // fields of the object itself
  return value === undefined ? undefined : canonicalJson(value);
}

/** Continues a sentence after "differs in". */
export function sides(what: string, was: string | undefined, is: string | undefined): string {
  const recorded = was === undefined ? "not recorded" : `recorded ${JSON.stringify(preview(was))}`;
  return `${what}: ${recorded}, now ${is === undefined ? "not sent" : JSON.stringify(preview(is))}`;
}

/** Cuts two texts shortly before the position where they differ. */
function windows(was: string, is: string): [string, string] {
  let place = 0;
  while (place < was.length && was[place] === is[place]) place++;
  const from = Math.max(0, place - BEFORE);
  const shown = (text: string): string => (from > 0 ? `...${text.slice(from)}` : text);
  return [shown(was), shown(is)];
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((text, i) => text !== b[i]);
  return index < 0 ? a.length : index;
}

/** Returns a message in its compared and shown form: role and text, without ids. */
function comparedText(message: ChatMessage): string {
  const content = textWithParts(message); // the form that traces use
  const calls =
    message.role === "assistant"
      ? (message.toolCalls ?? []).map((call) => ` ${call.name}(${call.arguments})`).join("")
      : "";
  return `${message.role}: ${content}${calls}`;
}
