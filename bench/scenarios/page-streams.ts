import { setImmediate as nextTurn } from "node:timers/promises";
import { Ensemble } from "agentensemble";
import { toUIMessageStreamResponse } from "agentensemble/ui";
import type { Scenario, SideName } from "../harness/scenario.js";
import { collectGarbage } from "../harness/measure.js";
import { conversation } from "../work/hand-written.js";
import { streamingModel } from "../work/models.js";
import { agentTask } from "../work/team.js";

const STREAMS = 200;
const TOKENS = 500;
const { model, text } = streamingModel(TOKENS);
const encoder = new TextEncoder();

type Open = () => Response;

/** Sends the same parts without a run: a delta of each piece when it arrives. */
function byHand(): Response {
  async function* lines(): AsyncGenerator<Uint8Array> {
    const line = (part: object): Uint8Array => encoder.encode(`data: ${JSON.stringify(part)}\n\n`);
    yield line({ type: "start", messageId: "m" });
    yield line({ type: "text-start", id: "t0" });
    for await (const chunk of model.stream({ messages: conversation("Speak") }))
      if (chunk.type === "text") yield line({ type: "text-delta", id: "t0", delta: chunk.text });
    yield line({ type: "text-end", id: "t0" });
    yield line({ type: "finish" });
    yield encoder.encode("data: [DONE]\n\n");
  }
  return new Response(ReadableStream.from(lines()));
}

function byFramework(): Open {
  const ensemble = new Ensemble({ model, tasks: [agentTask("Speak")] });
  return () => toUIMessageStreamResponse(ensemble.stream());
}

function heap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed / 1_048_576;
}

/**
 * Reads a response to its end. Calls `atHalf` when half of it has been read. @throws Error for
 * another text than the model's.
 */
async function read(response: Response, atHalf: () => Promise<void>): Promise<void> {
  if (response.body === null) throw new Error("There is no body");
  const decoder = new TextDecoder();
  let received = "";
  let half = false;
  for await (const piece of response.body) {
    for (const line of decoder.decode(piece as Uint8Array).split("\n\n")) {
      if (!line.startsWith("data: {")) continue;
      const part = JSON.parse(line.slice(6)) as { readonly type: string; readonly delta?: string };
      if (part.type === "text-delta") received += part.delta ?? "";
    }
    if (half || received.length < text.length / 2) continue;
    half = true;
    await atHalf();
  }
  if (received !== text) throw new Error(`Another text came: ${received.length} characters`);
}

/**
 * Measures 200 concurrent streams. Returns the CPU microseconds per token, the memory at half of
 * the text, and the memory after the end.
 */
async function measure(open: Open): Promise<readonly number[]> {
  const before = heap();
  const { user, system } = process.cpuUsage();
  let waiting = 0;
  let held = 0;
  let goOn: () => void = () => undefined;
  const measured = new Promise<void>((resolve) => (goOn = resolve));
  let paused = 0;
  const atHalf = async (): Promise<void> => {
    if (++waiting < STREAMS) return measured;
    for (let i = 0; i < 3; i++) await nextTurn(); // the runs end, and their tokens are joined
    const start = process.cpuUsage();
    held = heap() - before;
    const spent = process.cpuUsage(start);
    paused = spent.user + spent.system;
    goOn();
    return measured;
  };
  await Promise.all(Array.from({ length: STREAMS }, () => read(open(), atHalf)));
  const cpu = process.cpuUsage();
  const micros = cpu.user + cpu.system - user - system - paused;
  return [micros / (STREAMS * TOKENS), held, heap() - before];
}

/** Streams for pages, read concurrently. */
export const pageStreamsScenario: Scenario = {
  id: "ui",
  lines: [
    { title: "200 streams for pages at once", unit: "us CPU/token" },
    { title: "200 streams, all of them half read", unit: "MB of heap", goal: 10 },
    { title: "200 streams, after their end", unit: "MB of heap", goal: 1 },
  ],
  rounds: 5,
  async prepare(side: SideName) {
    const open = side === "framework" ? byFramework() : byHand;
    for (let i = 0; i < 3; i++) await measure(open);
    return () => measure(open);
  },
};
