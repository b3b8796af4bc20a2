import type { EnsembleEvent, EnsembleOptions, RunHandle, RunOptions } from "agentensemble";
import type { UIChunk, UIStreamOptions } from "agentensemble/ui";
import type { UIMessage, UIMessageChunk } from "ai";
import { EventSchema } from "@ag-ui/core/schemas";
import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import { Ensemble } from "agentensemble";
import { toAgUiEvents, toUIMessageStream } from "agentensemble/ui";
import { expect } from "chai";
import { collect } from "../../support/collect.js";

const ENDS = ["finish", "error", "abort"];

/** Starts a run whose kernel ends with it. */
export function started(options: EnsembleOptions, run: RunOptions = {}): RunHandle {
  const ensemble = new Ensemble(options);
  const handle = ensemble.stream({}, run);
  void handle.output.catch(() => undefined).then(() => ensemble.dispose());
  return handle;
}

export async function partsOf(stream: ReadableStream<UIChunk>): Promise<readonly UIChunk[]> {
  return collect(stream);
}

/** The parts of a run, checked by the AI SDK. */
export async function uiParts(
  options: EnsembleOptions,
  o: UIStreamOptions = {},
): Promise<readonly UIChunk[]> {
  const parts = await partsOf(toUIMessageStream(started(options), o));
  await checkUiParts(parts);
  return parts;
}

/** The events of a run, checked by AG-UI. */
export async function agUiEvents(
  options: EnsembleOptions,
  o: UIStreamOptions = {},
): Promise<readonly UIChunk[]> {
  const events = await collect(toAgUiEvents(started(options), o));
  checkAgUiEvents(events);
  return events;
}

/** The JSON that a page receives. */
function overTheWire(parts: readonly UIChunk[]): readonly UIChunk[] {
  return parts.map((part) => JSON.parse(JSON.stringify(part)) as UIChunk);
}

/**
 * The SDK accepts each part and the whole, and there is one end. Returns the message that a page
 * shows.
 */
export async function checkUiParts(parts: readonly UIChunk[]): Promise<UIMessage> {
  const sent = overTheWire(parts);
  const schema = uiMessageChunkSchema();
  for (const part of sent) {
    const result = await schema.validate?.(part);
    expect(result?.success, JSON.stringify(part)).to.equal(true);
  }
  expect(sent[0]?.type).to.equal("start");
  expect(sent.map(({ type }) => type).filter((type) => ENDS.includes(type))).to.deep.equal([
    sent.at(-1)?.type,
  ]);
  return messageOf(sent);
}

/** The message that the SDK's reader creates from parts. */
export async function messageOf(parts: readonly UIChunk[], before?: UIMessage): Promise<UIMessage> {
  const errors: unknown[] = [];
  const messages = await collect(
    readUIMessageStream({
      ...(before !== undefined && { message: before }),
      stream: ReadableStream.from(parts) as ReadableStream<UIMessageChunk>, // checked by the SDK's schema
      onError: (error) => errors.push(error),
      terminateOnError: false,
    }),
  );
  const told = parts.filter(({ type }) => type === "error").map((part) => part["errorText"]);
  expect(errors.map((error) => (error as Error).message)).to.deep.equal(told);
  const last = messages.at(-1);
  if (last === undefined) throw new Error("The stream has no message");
  return last;
}

/** AG-UI accepts each event, and all started parts end before the run. */
export function checkAgUiEvents(events: readonly UIChunk[]): void {
  const sent = overTheWire(events);
  for (const event of sent) {
    const result = EventSchema.safeParse(event);
    expect(result.success, JSON.stringify(event)).to.equal(true);
  }
  const types = sent.map(({ type }) => type);
  expect(types[0]).to.equal("RUN_STARTED");
  expect(types.filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR")).to.deep.equal([
    types.at(-1),
  ]);
  for (const [start, end] of [
    ["STEP_STARTED", "STEP_FINISHED"],
    ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
    ["REASONING_START", "REASONING_END"],
    ["REASONING_MESSAGE_START", "REASONING_MESSAGE_END"],
    ["TOOL_CALL_START", "TOOL_CALL_END"],
  ])
    expect(types.filter((type) => type === start).length, start).to.equal(
      types.filter((type) => type === end).length,
    );
}

export const typesOf = (parts: readonly UIChunk[]): readonly string[] =>
  parts.map(({ type }) => type);

export const ofType = (parts: readonly UIChunk[], type: string): readonly UIChunk[] =>
  parts.filter((part) => part.type === type);

/** The parts except data. */
export const withoutData = (parts: readonly UIChunk[]): readonly UIChunk[] =>
  parts.filter(({ type }) => !type.startsWith("data-"));

/** The text that is shown, part by part. */
export function textsOf(parts: readonly UIChunk[]): readonly string[] {
  const texts = new Map<unknown, string>();
  for (const part of ofType(parts, "text-delta"))
    texts.set(part["id"], (texts.get(part["id"]) ?? "") + String(part["delta"]));
  return [...texts.values()];
}

/** A run with the given events. */
export function handleOf(
  events: AsyncIterable<EnsembleEvent>,
  output: RunHandle["output"],
): RunHandle & { readonly cancelled: readonly (string | undefined)[] } {
  const cancelled: (string | undefined)[] = [];
  return {
    id: "run-1",
    events,
    output,
    cancel: (reason) => void cancelled.push(reason),
    cancelled,
  };
}
