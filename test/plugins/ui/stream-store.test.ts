import type { UIChunk } from "agentensemble/ui";
import { StreamStore } from "agentensemble/ui";
import { expect } from "chai";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { rejection } from "../../support/rejection.js";

const never = new AbortController().signal;
const part = (n: number): UIChunk => ({ type: "text-delta", id: "t0", delta: `${n}` });

async function readAll(
  store: StreamStore,
  id: string,
  from = 0,
  signal = never,
): Promise<readonly number[] | undefined> {
  const stream = await store.read(id, from, signal);
  if (stream === undefined) return undefined;
  const numbers: number[] = [];
  for await (const { n, chunk } of stream) {
    expect(chunk).to.deep.equal(part(n));
    numbers.push(n);
  }
  return numbers;
}

describe("StreamStore.inMemory()", () => {
  it("returns the parts from a number on, including later parts, to several readers", async () => {
    const store = StreamStore.inMemory();
    await store.append("s", 0, [part(0), part(1)]);
    const readers = [readAll(store, "s"), readAll(store, "s", 1), readAll(store, "s", 3)];
    await new Promise((resolve) => setImmediate(resolve));
    await store.append("s", 2, [part(2)]);
    await store.append("s", 3, [part(3)]);
    await store.end("s");
    expect(await Promise.all(readers)).to.deep.equal([[0, 1, 2, 3], [1, 2, 3], [3]]);
    expect(await readAll(store, "s", 2)).to.deep.equal([2, 3]);
    expect(await readAll(store, "s", 9)).to.deep.equal([]);
  });

  it("contains no other streams", async () => {
    expect(await readAll(StreamStore.inMemory(), "x")).to.equal(undefined);
  });

  it("allows a reader to stop", async () => {
    const store = StreamStore.inMemory();
    await store.append("s", 0, [part(0)]);
    const leaving = new AbortController();
    const reading = readAll(store, "s", 0, leaving.signal);
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    expect(await reading).to.deep.equal([0]);
  });

  it("refuses parts that leave a gap, repeat others or come after the end", async () => {
    const store = StreamStore.inMemory();
    await store.append("s", 0, [part(0)]);
    const wrong = [() => store.append("s", 2, [part(2)]), () => store.append("s", 0, [part(0)])];
    for (const act of wrong) expect(act).to.throw().with.property("code", "AE_VALIDATION");
    await store.end("s");
    expect(() => store.append("s", 1, [part(1)]))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
    expect(() => store.read("s", -1, never))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
  });

  it("does not keep a stream that grows too large, and reports it to its reader", async () => {
    const store = StreamStore.inMemory({ maxBytes: 120 });
    await store.append("s", 0, [part(0)]);
    const reading = rejection(readAll(store, "s"));
    await new Promise((resolve) => setImmediate(resolve));
    await store.append("s", 1, [part(1), part(2), part(3)]);
    expect(await reading).to.have.property("code", "AE_STREAM_LOST");
    expect(await readAll(store, "s")).to.equal(undefined);
    await store.append("s", 4, [part(4)]); // the run continues without the stream
    await store.end("s");
    expect(await readAll(store, "s")).to.equal(undefined);
  });

  it("removes the oldest ended stream, or else the oldest stream, to make room", async () => {
    const store = StreamStore.inMemory({ maxStreams: 2 });
    await store.append("open", 0, [part(0)]);
    await store.append("ended", 0, [part(0)]);
    await store.end("ended");
    await store.append("third", 0, [part(0)]);
    expect(await store.read("ended", 0, never)).to.equal(undefined);
    const reading = rejection(readAll(store, "open"));
    await new Promise((resolve) => setImmediate(resolve));
    await store.append("fourth", 0, [part(0)]);
    expect(await reading).to.have.property("code", "AE_STREAM_LOST");
    expect(await store.read("third", 0, never)).to.not.equal(undefined);
  });

  it("frees the memory of an ended stream that it removes to make room", async () => {
    const store = StreamStore.inMemory({ maxStreams: 1 });
    let chunk: UIChunk | undefined = part(0);
    const removed = new WeakRef(chunk);
    await store.append("first", 0, [chunk]);
    chunk = undefined;
    await store.end("first");
    await store.append("second", 0, [part(0)]);
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)(); // that is what the flag does
    expect(removed.deref()).to.equal(undefined);
  });

  it("drops one stream if there are too many, and ignores its later parts", async () => {
    const store = StreamStore.inMemory({ maxStreams: 3 });
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await store.append(id, 0, [part(0)]);
    for (const n of [1, 2]) for (const id of ids) await store.append(id, n, [part(n)]);
    for (const id of ids) await store.end(id);
    expect(await readAll(store, "a")).to.equal(undefined);
    for (const id of ids.slice(1)) expect(await readAll(store, id), id).to.deep.equal([0, 1, 2]);
    await store.append("a", 0, [part(7)]); // a stream that has ended may begin again
    expect(await store.read("a", 0, never)).to.not.equal(undefined);
  });

  it("keeps 200 streams by default", async () => {
    const store = StreamStore.inMemory();
    for (let i = 0; i <= 200; i++) {
      if (i === 200) expect(await readAll(store, "s0")).to.deep.equal([0]);
      await store.append(`s${i}`, 0, [part(0)]);
      await store.end(`s${i}`);
    }
    expect(await readAll(store, "s0")).to.equal(undefined);
    expect(await readAll(store, "s1")).to.deep.equal([0]);
  });

  it("releases the slot of a stream that grew too large when it ends", async () => {
    const store = StreamStore.inMemory({ maxStreams: 1, maxBytes: 200 });
    await store.append("large", 0, [{ type: "x".repeat(400) }]);
    await store.end("large");
    await store.append("large", 0, [part(0)]);
    expect(await store.read("large", 0, never)).to.not.equal(undefined);
  });

  it("drops a stream some time after its end", async () => {
    const atOnce = StreamStore.inMemory({ keepMs: 0 });
    await atOnce.append("s", 0, [part(0)]);
    const reading = readAll(atOnce, "s");
    await atOnce.end("s");
    expect(await reading).to.deep.equal([0]);
    expect(await readAll(atOnce, "s")).to.equal(undefined);

    const soon = StreamStore.inMemory({ keepMs: 1 });
    await soon.append("s", 0, [part(0)]);
    await soon.end("s");
    while ((await soon.read("s", 0, never)) !== undefined)
      await new Promise((resolve) => setTimeout(resolve, 1));
  });

  it("refuses invalid options", () => {
    for (const options of [{ maxStreams: 0 }, { maxBytes: 1.5 }, { keepMs: -1 }, { keep: 1 }])
      expect(() => StreamStore.inMemory(options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
  });
});
