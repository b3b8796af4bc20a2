import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import type { RecordedCall } from "./recording.js";
import { preview } from "../../contracts/validation.js";
import { textWithParts } from "../shared/message-text.js";
import { canonicalJson } from "../../util/json/canonical.js";

/** A request that nothing was recorded for, and where it was made. */
export interface UnknownRequest {
  readonly request: ChatRequest;
  readonly run: string | undefined;
  readonly task: string;
  readonly iteration: number;
  readonly provider: string;
  readonly modelId: string;
  readonly purpose: string;
}

/** Recorded calls that are looked at for one that is like a request. */
const LOOKED_AT = 1_000;
/** How much of what both have in common is shown before the difference. */
const BEFORE = 40;

/** The recorded call most like a request: of the same task first, then the one that begins with the same messages. */
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

/** What is different, in a sentence with both sides; `undefined` where nothing is. */
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

/** The first message that is another one. */
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

/** Of conversations that are the same word for word. */
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
  const value = (options as Readonly<Record<string, unknown>>)[name]; // its own fields
  return value === undefined ? undefined : canonicalJson(value);
}

/** Reads on from "differs in". */
export function sides(what: string, was: string | undefined, is: string | undefined): string {
  const recorded = was === undefined ? "not recorded" : `recorded ${JSON.stringify(preview(was))}`;
  return `${what}: ${recorded}, now ${is === undefined ? "not sent" : JSON.stringify(preview(is))}`;
}

/** Two texts from shortly before the place where they part. */
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

/** A message as it is compared and shown: role and text, without ids. */
function comparedText(message: ChatMessage): string {
  const content = textWithParts(message); // as traces have it
  const calls =
    message.role === "assistant"
      ? (message.toolCalls ?? []).map((call) => ` ${call.name}(${call.arguments})`).join("")
      : "";
  return `${message.role}: ${content}${calls}`;
}
