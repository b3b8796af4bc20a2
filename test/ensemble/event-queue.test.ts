import type { EnsembleEvent } from "agentensemble";
import { expect } from "chai";
import { EventQueue } from "../../src/ensemble/event-queue.js";
import { rejection } from "../support/rejection.js";

const base = { v: 1 as const, seq: 0, runId: "run-1", at: "2026-01-01T00:00:00.000Z" };
const token = (text: string, taskId = "task-1"): EnsembleEvent => ({
  ...base,
  type: "token",
  taskId,
  agentRole: "r",
  token: text,
  taskDescription: "d",
});
const warning = (n: number): EnsembleEvent => ({
  ...base,
  type: "run_warning",
  message: String(n),
});

async function readAll(queue: EventQueue): Promise<readonly EnsembleEvent[]> {
  const read: EnsembleEvent[] = [];
  for await (const event of queue) read.push(event);
  return read;
}

describe("EventQueue", () => {
  it("returns events in the order in which they were added, and ends", async () => {
    const queue = new EventQueue();
    const reading = readAll(queue);
    for (let n = 0; n < 5; n++) queue.push(warning(n));
    await Promise.resolve();
    for (let n = 5; n < 2_000; n++) queue.push(warning(n));
    queue.end();
    queue.push(warning(-1));
    expect((await reading).map((event) => (event as { message: string }).message)).to.deep.equal(
      Array.from({ length: 2_000 }, (_, n) => String(n)),
    );
  });

  it("merges the tokens of one task for a slow reader, without losing characters", async () => {
    const queue = new EventQueue();
    for (let n = 0; n < 5_000; n++) queue.push(token(String(n % 10)));
    queue.push(token("x", "task-2"));
    queue.end();
    const events = await readAll(queue);
    expect(events.length).to.be.lessThan(1_100);
    expect(events.map((event) => (event as { token: string }).token).join("")).to.equal(
      `${"0123456789".repeat(500)}x`,
    );
    expect(events.at(-1)).to.include({ taskId: "task-2", token: "x" });
  });

  it("disconnects a reader that exceeds the limit, after the kept events", async () => {
    const queue = new EventQueue();
    for (let n = 0; n < 100_001; n++) queue.push(warning(n));
    const iterator = queue[Symbol.asyncIterator]();
    for (let n = 0; n < 100_000; n++) expect((await iterator.next()).done).to.equal(false);
    expect(await rejection(iterator.next())).to.include({ code: "AE_EVENTS_OVERFLOW" });
  });

  it("ends pending reads at its end, and stays ended", async () => {
    const queue = new EventQueue();
    const iterator = queue[Symbol.asyncIterator]();
    const waiting = [iterator.next(), iterator.next()];
    queue.end();
    expect((await Promise.all(waiting)).map(({ done }) => done)).to.deep.equal([true, true]);
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });
});
