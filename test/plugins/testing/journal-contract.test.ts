import type { Journal, JournalEntry, KeptEntry } from "agentensemble";
import { journalContract } from "agentensemble/testing";
import { expect } from "chai";
import { JournalFolder } from "../durability/file/journal-folder.js";
import { failuresOf } from "./failures-of.js";

type Break = (sound: Journal) => Partial<Journal>;

/** A journal with some broken methods. The others are those of a correct journal. */
function broken(sound: Journal, breaks: Break): Journal {
  const methods = breaks(sound) as Readonly<Record<string | symbol, unknown>>;
  return new Proxy(sound, {
    get(target, name): unknown {
      if (name in methods) return methods[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function faultsOf(breaks: Break, only: string): Promise<readonly string[]> {
  return failuresOf(
    () =>
      journalContract("under test", {
        reopens: true,
        shared: true,
        create: () => {
          const folder = new JournalFolder();
          const open = (): Journal => broken(folder.open(), breaks);
          return {
            journal: open(),
            reopen: open,
            another: open,
            abandon: (claim) => folder.abandon(claim),
            dispose: () => folder.close(),
          };
        },
      }),
    only,
  );
}

/** Changes the entries that are read back. */
const reading =
  (change: (entries: readonly KeptEntry[]) => readonly KeptEntry[]): Break =>
  (sound) => ({
    entries: async (runId) => change(await sound.entries(runId)),
    claim: async (request) => {
      const claim = await sound.claim(request);
      return { ...claim, entries: change(claim.entries) };
    },
  });

/** Changes the entries that are written. */
const writing =
  (change: (entry: JournalEntry) => JournalEntry): Break =>
  (sound) => ({ append: (claim, entry) => sound.append(claim, change(entry)) });

const later = (entry: JournalEntry): JournalEntry => JSON.parse(JSON.stringify(entry)) as never; // later changes of the caller

/** Breaches, each with a test that must find it. */
const BREACHES: Readonly<Record<string, readonly [string, Break]>> = {
  "entries that get lost with their claim": [
    "returns a run unchanged and with all entries to the next claim, for each status",
    (sound) => ({ claim: async (o) => ({ ...(await sound.claim(o)), entries: [] }) }),
  ],
  "entries in another order": [
    "keeps the order of concurrent writes",
    reading((entries) => [...entries].reverse()),
  ],
  "entries under new keys": [
    "ignores an entry with a known key",
    (sound) => {
      let n = 0;
      return { append: (claim, entry) => sound.append(claim, { ...entry, key: entry.key + "~".repeat(n++) }) }; // prettier-ignore
    },
  ],
  "intents that stay": [
    "replaces the intent of a call by its result, and ignores later entries",
    writing((entry) => (entry.kind === "intent" ? { ...entry, kind: "step" } : entry)),
  ],
  "tasks that are not repeated": [
    "removes the earlier entries of a repeated task",
    writing((entry) => (entry.kind === "redo" ? { ...entry, kind: "step" } : entry)),
  ],
  "omitted calls of unfinished tasks": [
    "returns all necessary entries if it omits those covered by finished tasks",
    reading((entries) => entries.filter(({ kind }) => kind !== "call")),
  ],
  "texts that are cut": [
    "keeps a value of five million characters",
    writing((entry) => typeof entry.value === "string" ? { ...entry, value: entry.value.slice(0, 1_000_000) } : entry), // prettier-ignore
  ],
  "texts that are made well-formed": [
    "keeps unusual texts as keys, tasks and values",
    writing((entry) => JSON.parse(Buffer.from(JSON.stringify(entry).replace(/\\ud83d/g, "?")).toString()) as never), // prettier-ignore
  ],
  "keys that lead to prototypes": [
    "keeps keys such as __proto__ as data",
    writing((entry) => JSON.parse(JSON.stringify(entry), (key, value: unknown) => (key === "__proto__" ? undefined : value)) as never), // prettier-ignore
  ],
  "entries that are read later": [
    "keeps an entry unchanged when the caller changes it later",
    (sound) => ({
      append: async (claim, entry) => {
        await new Promise(setImmediate);
        await sound.append(claim, later(entry));
      },
    }),
  ],
  "claims that are always granted": [
    "refuses a run that another process executes, and names that process",
    (sound) => ({
      claim: (o) =>
        sound.claim(o).catch(async () => {
          const record = (await sound.get(o.start.runId)) ?? expect.fail("there is no such run");
          return { runId: o.start.runId, epoch: 99, record, entries: [] };
        }),
    }),
  ],
  "owners without a name": [
    "refuses a run that another process executes, and names that process",
    (sound) => ({ claim: (o) => sound.claim({ ...o, owner: "another" }) }),
  ],
  "claims that ignore their signal": [
    "ends the wait for a run at its signal, and leaves the claim to the holder",
    (sound) => ({ claim: (o) => sound.claim({ ...o, signal: new AbortController().signal }) }),
  ],
  "writes of a lost claim": [
    "refuses writes of a claim that another process has replaced",
    (sound) => ({
      append: (claim, entry) =>
        sound.append(claim, entry).catch(() => sound.create({ ...claim.record, runId: "x" }, [], "x")), // prettier-ignore
    }),
  ],
  "lost claims that are reported as held": [
    "releases the claim at the end of the execution",
    () => ({ renew: async () => ({ state: "held" }) }),
  ],
  "held claims that are reported as lost": [
    "keeps a claim that is renewed beyond its lease",
    () => ({ renew: async () => ({ state: "lost" }) }),
  ],
  "fruitless executions that are not counted": [
    "counts consecutive executions whose process died without writing an entry",
    (sound) => ({
      claim: async (o) => {
        const claim = await sound.claim(o);
        return { ...claim, record: { ...claim.record, fruitlessExecutions: 0 } };
      },
    }),
  ],
  "results that get lost": [
    "stores the result of an execution without an owner",
    (sound) => ({ release: (claim, { status }) => sound.release(claim, { status }) }),
  ],
  "cancellations that the holder does not see": [
    "reports a cancellation to the holder at each renewal, until the run is cancelled",
    (sound) => ({ cancel: async (runId) => (await sound.get(runId)) !== undefined }),
  ],
  "cancellations of ended runs": [
    "returns false when it cancels an unknown or ended run",
    () => ({ cancel: async () => true }),
  ],
  "cancellations that end with their execution": [
    "cancels a run whose execution ends without handling the cancellation",
    () => {
      const requested = new Map<string, string>();
      return {
        cancel: async (runId, reason) => {
          requested.set(runId, reason);
          return true;
        },
        renew: async (claim) => ({ state: "held", cancelReason: requested.get(claim.runId) }),
      };
    },
  ],
  "pages that repeat a run": [
    "lists runs page by page, each once",
    (sound) => ({ list: ({ after: _, ...filter } = {}) => sound.list({ ...filter, limit: 1 }) }),
  ],
  "filters without an effect": [
    "lists runs by status, ensemble, tags and time",
    (sound) => ({ list: ({ tags: _, ...filter } = {}) => sound.list(filter) }),
  ],
  "lists with the oldest run first": [
    "lists runs with all stored fields, the newest first",
    (sound) => ({
      list: async (filter) => {
        const { runs, ...page } = await sound.list(filter);
        return { ...page, runs: [...runs].reverse() };
      },
    }),
  ],
  "runs that replace others": [
    "refuses to create a run with an existing id",
    (sound) => ({ create: (start, entries, why) => sound.create(start, entries, why).catch(() => undefined) }), // prettier-ignore
  ],
  "changes without an effect": [
    "adds entries to a run that no process executes, and replaces an entry with the same key",
    () => ({ amend: () => Promise.resolve() }),
  ],
  "changes of runs in progress": [
    "adds nothing to a run in progress or an unknown run",
    (sound) => ({ amend: (runId, entry) => sound.amend(runId, entry).catch(() => undefined) }),
  ],
  "runs that can't be deleted": [
    "deletes a run with its entries, and accepts the id for a new run",
    (sound) => ({ delete: async (runId) => (await sound.get(runId)) !== undefined }),
  ],
  "a close without an effect": [
    "completes pending writes when it is closed, and then rejects calls",
    () => ({ close: () => Promise.resolve() }),
  ],
};

describe("journalContract", () => {
  for (const [breach, [expected, breaks]] of Object.entries(BREACHES))
    it(`detects ${breach}`, async () => {
      expect(await faultsOf(() => ({}), expected)).to.deep.equal([]);
      expect(await faultsOf(breaks, expected)).to.deep.equal([expected]);
    });

  it("refuses an unknown option", () => {
    expect(() => journalContract("odd", { creates: () => undefined } as never)).to.throw(
      "Did you mean 'create'?",
    );
  });
});
