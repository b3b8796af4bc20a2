import assert from "node:assert/strict";
import type { Claim, Journal, JournalEntry, KeptEntry } from "../../contracts/journal.js";
import { sleep } from "../../util/abort/timeouts.js";
import type { UseJournal } from "./journal-scenario.js";
import {
  asJson,
  assertInstant,
  claimRun,
  entryNamed,
  keptEntry,
  keptRun,
  keysIn,
  plannedStart,
  writeEntries,
} from "./journal-scenario.js";

/**
 * Texts that storages may damage: lone surrogates, line separators, NUL, quotes, combining marks.
 */
const ODD_TEXTS = [
  "\ud83d",
  "\udc00 x \ud800",
  "\u2028 \u2029 \u0085 \r\n \n",
  "a\u0000b \u0007 \u007f",
  "\"'`\\ \\u0000 \\n",
  "e\u0301 \u{1f980} \u202e \ufeff",
  "'; drop table runs; --",
];

/** Texts that are not valid keys and task names. */
const NO_NAMES: ReadonlySet<string> = new Set(ODD_TEXTS.filter((_, n) => n < 2 || n === 3));

const VALUES: readonly unknown[] = [null, 0, -1.5e-7, "", false, true, [], {}, [[{}]], 2 ** 53];

/**
 * Calls and tools of three tasks. The entry of the first covers them, the entry of the second does
 * not. The third is unfinished.
 */
const COVERED: readonly JournalEntry[] = [
  entryNamed("c1", { kind: "call", task: "done@1" }),
  entryNamed("k1", { kind: "tool", task: "done@1" }),
  entryNamed("c2", { kind: "call", task: "parent@1" }),
  entryNamed("c0", { kind: "call", task: "done@2" }),
  entryNamed("w1", { kind: "memory", task: "done@1" }),
  entryNamed("r1", { kind: "review", task: "done@1" }),
  entryNamed("t1", { kind: "task", task: "done@1", covers: true }),
  entryNamed("t2", { kind: "task", task: "parent@1" }),
  entryNamed("c3", { kind: "call", task: "open@1" }),
];
const MUST_BE_HANDED_OUT = ["c2", "c0", "r1", "t1", "t2", "c3"];

/** Writes an entry and reads it again. */
async function roundTrip(journal: Journal, claim: Claim, entry: JournalEntry): Promise<KeptEntry> {
  await journal.append(claim, entry);
  return keptEntry(journal, claim.runId, entry.key);
}

function keySuite(use: UseJournal): void {
  it("returns entries in the order of writing, with their time and execution", () =>
    use(async ({ journal, other }) => {
      const first = await claimRun(journal, "r");
      await writeEntries(journal, first, ["b", "a"]);
      await journal.release(first, { status: "waiting" });
      await writeEntries(other, await claimRun(other, "r"), ["c"]);
      const entries = await journal.entries("r");
      assert.deepEqual(
        entries.map(({ key, execution }) => `${key} ${execution}`),
        ["b 1", "a 1", "c 2"],
      );
      for (const { at } of entries) assertInstant(at);
    }));
  it("ignores an entry with a known key", () =>
    use(async ({ journal, other }) => {
      const first = await claimRun(journal, "r");
      await writeEntries(journal, first, ["a", entryNamed("a", { value: "another" })]);
      await journal.release(first, { status: "waiting" });
      const claim = await claimRun(other, "r");
      await Promise.all(["x", "y"].map((value) => other.append(claim, entryNamed("a", { value }))));
      const [entry, ...rest] = await other.entries("r");
      assert.deepEqual([entry?.value, entry?.execution, rest], ["value of a", 1, []]);
    }));
  it("replaces the intent of a call by its result, and ignores later entries", () =>
    use(async ({ journal, other }) => {
      const first = await claimRun(journal, "r");
      await writeEntries(journal, first, [entryNamed("k", { kind: "intent", value: null }), "a"]);
      assert.equal((await keptEntry(other, "r", "k")).kind, "intent");
      await journal.release(first, { status: "waiting" });
      const claim = await claimRun(other, "r");
      for (const value of ["the end", "another end"])
        await other.append(claim, entryNamed("k", { kind: "tool", value }));
      const { kind, value, execution } = await keptEntry(journal, "r", "k");
      assert.deepEqual([kind, value, execution], ["tool", "the end", 2]);
      assert.deepEqual([...keysIn(await journal.entries("r"))].sort(), ["a", "k"]);
    }));
}

function redoSuite(use: UseJournal): void {
  it("removes the earlier entries of a repeated task", () =>
    use(async ({ journal, other }) => {
      const first = await claimRun(journal, "r");
      const task = entryNamed("T", { kind: "task" });
      await writeEntries(journal, first, [task, "a", entryNamed("b", { task: "u@1" })]);
      await journal.release(first, { status: "waiting" });
      const claim = await claimRun(other, "r");
      await writeEntries(other, claim, [entryNamed("redo", { kind: "redo" })]);
      const left = (await journal.entries("r")).filter(({ kind }) => kind !== "redo");
      assert.deepEqual([keysIn(left), (await keptRun(journal, "r")).finishedTasks], [["b"], 0]);
      await writeEntries(other, claim, [entryNamed("a", { value: "again" })]);
      assert.equal((await keptEntry(journal, "r", "a")).value, "again");
    }));
  it("returns all necessary entries if it omits those covered by finished tasks", () =>
    use(async ({ journal, other }) => {
      const first = await claimRun(journal, "r");
      await writeEntries(journal, first, COVERED);
      assert.equal((await keptEntry(journal, "r", "t1")).covers, true);
      await journal.release(first, { status: "waiting" });
      const { entries, record } = await claimRun(other, "r");
      const needed = keysIn(entries).filter((key) => MUST_BE_HANDED_OUT.includes(key));
      assert.deepEqual([needed, record.finishedTasks], [MUST_BE_HANDED_OUT, 2]);
      assert.deepEqual(
        keysIn(entries).filter((key) => !COVERED.some((entry) => entry.key === key)),
        [],
      );
    }));
}

function valueSuite(use: UseJournal): void {
  it("keeps every kind of value, and omits missing fields", () =>
    use(async ({ journal }) => {
      const claim = await claimRun(journal, "r");
      for (const [n, value] of VALUES.entries()) {
        const { at: _at, execution: _execution, ...entry } = await roundTrip(journal, claim, entryNamed(`${n}`, { value })); // prettier-ignore
        assert.deepEqual(asJson(entry), asJson(entryNamed(`${n}`, { value })));
      }
      const whole = entryNamed("x", { hash: "h", covers: true, kind: "task", value: { a: [1] } });
      const { at: _at, execution: _execution, ...entry } = await roundTrip(journal, claim, whole);
      assert.deepEqual(asJson(entry), whole);
    }));
  it("keeps unusual texts as keys, tasks and values", () =>
    use(async ({ journal }) => {
      const claim = await claimRun(journal, plannedStart("r", { inputs: ODD_TEXTS }));
      for (const text of ODD_TEXTS) {
        const name = NO_NAMES.has(text) ? `text ${ODD_TEXTS.indexOf(text)}` : text;
        const entry = entryNamed(name, { task: name, value: { [text]: text } });
        const { key, task, value } = await roundTrip(journal, claim, entry);
        assert.deepEqual([key, task, asJson(value)], [name, name, { [text]: text }]);
      }
      assert.deepEqual((await keptRun(journal, "r")).inputs, ODD_TEXTS);
    }));
  it("keeps keys such as __proto__ as data", () =>
    use(async ({ journal }) => {
      const claim = await claimRun(journal, "r");
      const text = '{"__proto__":{"odd":1},"constructor":{"prototype":{"odd":2}}}';
      for (const key of ["__proto__", "constructor", "toString"]) {
        const { value } = await roundTrip(
          journal,
          claim,
          entryNamed(key, { value: JSON.parse(text) }),
        );
        assert.equal(JSON.stringify(value), text);
      }
      assert.equal(({} as Record<string, unknown>)["odd"], undefined);
    }));
  it("keeps a value of five million characters", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      const value = "a line of text \u{1f980}\n".repeat(300_000);
      const { value: kept } = await roundTrip(journal, claim, entryNamed("a", { value }));
      assert.ok(kept === value, "the value was changed");
      await journal.release(claim, { status: "waiting" });
      assert.ok((await claimRun(other, "r")).entries[0]?.value === value, "the value was changed");
    }));
  it("keeps an entry unchanged when the caller changes it later", () =>
    use(async ({ journal }) => {
      const value = { list: [1] };
      const claim = await claimRun(journal, "r");
      const writing = journal.append(claim, entryNamed("a", { value }));
      value.list.push(2);
      await writing;
      value.list.push(3);
      assert.deepEqual(asJson((await keptEntry(journal, "r", "a")).value), { list: [1] });
    }));
}

function manySuite(use: UseJournal): void {
  it("keeps the order of concurrent writes", () =>
    use(async ({ journal }) => {
      const claim = await claimRun(journal, "r");
      const keys = Array.from({ length: 100 }, (_, n) => `e${n}`);
      await Promise.all(keys.map((key) => journal.append(claim, entryNamed(key))));
      assert.deepEqual(keysIn(await journal.entries("r")), keys);
    }));
  it("returns complete entries without a gap during four concurrent writers", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      let writing = 4;
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; n < 25; n++) await journal.append(claim, entryNamed(`${writer}-${n}`));
        writing--;
      };
      const read = async (): Promise<void> => {
        let before: readonly string[] = [];
        while (writing > 0) {
          const now = keysIn(await other.entries("r"));
          assert.deepEqual(now.slice(0, before.length), before, "what was read before has changed");
          for (let writer = 0; writer < 4; writer++) {
            const own = now.filter((key) => key.startsWith(`${writer}-`));
            assert.deepEqual(
              own,
              own.map((_, n) => `${writer}-${n}`),
            );
          }
          before = now;
          await sleep(1);
        }
      };
      await Promise.all([read(), ...[0, 1, 2, 3].map(write)]);
      assert.equal((await other.entries("r")).length, 100);
    }));
  it("keeps the entries of different runs separate", () =>
    use(async ({ journal }) => {
      const ids = ["r1", "r2", "r3"];
      const claims = await Promise.all(ids.map((id) => claimRun(journal, id)));
      await Promise.all(
        claims.flatMap((claim) =>
          ["a", "b"].map((key) => journal.append(claim, entryNamed(key, { value: claim.runId }))),
        ),
      );
      for (const id of ids) {
        const values = (await journal.entries(id)).map(({ value }) => value);
        assert.deepEqual(values, [id, id]);
      }
      assert.deepEqual(await journal.entries("unknown"), []);
    }));
}

/** Tests that another process can read an entry once its promise has resolved. */
export function sharedEntriesSuite(use: UseJournal): void {
  it("returns an entry to another process as soon as it is written", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      for (let n = 1; n <= 5; n++) {
        await journal.append(claim, entryNamed(`e${n}`));
        assert.equal((await other.entries("r")).length, n);
      }
    }));
}

/** Tests of entries: keys, values, order. */
export function journalEntriesSuite(use: UseJournal): void {
  keySuite(use);
  redoSuite(use);
  valueSuite(use);
  manySuite(use);
}
