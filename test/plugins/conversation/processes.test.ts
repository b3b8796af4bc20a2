import { fileURLToPath } from "node:url";
import { ConversationStore } from "agentensemble";
import { expect } from "chai";
import { textsIn } from "../../../src/plugins/testing/conversation-store-turns.js";
import { OtherProcess } from "../../support/other-process.js";
import { needPostgres, onServer, POSTGRES_URL } from "../../support/postgres.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const WRITER = fileURLToPath(new URL("./turn-writer.js", import.meta.url));
const TURNS = 20;

/** Two processes add turns to one thread; a third holds its lock and is killed. */
async function share(place: string, schema: string, store: ConversationStore): Promise<void> {
  const holder = OtherProcess.of(WRITER, "hold", place, schema);
  await holder.saying(1);
  const writers = ["a", "b"].map((name) =>
    OtherProcess.of(WRITER, "add", place, schema, name, String(TURNS)).ended(),
  );
  const signal = new AbortController().signal;
  const own = store.lock?.("t", { timeoutMs: 60_000, signal });
  expect(await store.open("t")).to.equal(undefined);
  await holder.ended("SIGKILL");
  await (await own)?.release();
  for (const writer of writers) expect(await writer).to.deep.equal(["conflicts: 0"]);
  const texts = await textsIn(store, "t");
  const expected = ["a", "b"].flatMap((name) =>
    Array.from({ length: TURNS }, (_, i) => `${name}-${i}`),
  );
  expect([...texts].sort()).to.deep.equal(expected.sort());
}

describe("conversation stores of several processes", function () {
  this.timeout(120_000);
  afterEach(() => OtherProcess.running.forEach((child) => child.kill("SIGKILL")));

  it("serialize turns in a folder, and release the lock of a killed process", async () => {
    const folder = temporaryFolder();
    await share(folder, "-", ConversationStore.file(folder));
  });

  it("serialize turns on a PostgreSQL server", async function () {
    await needPostgres(this);
    const schema = `ae_turns_${process.pid}`;
    const store = ConversationStore.sql({ url: POSTGRES_URL, schema });
    try {
      await share(POSTGRES_URL, schema, store);
    } finally {
      await store.close?.();
      await onServer(`drop schema if exists "${schema}" cascade`);
    }
  });
});
