import { randomBytes } from "node:crypto";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Journal, JournalCodec } from "agentensemble";
import { JournalError, ReviewDecision, ValidationError } from "agentensemble";
import { journalContract } from "agentensemble/testing";
import { expect } from "chai";
import { aesJournalCodec } from "../../../../src/plugins/durability/shared/sealed/aes-journal-codec.js";
import { sealedJournal } from "../../../../src/plugins/durability/shared/sealed/sealed-journal.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { warningsOf } from "../../../support/warnings.js";
import { JournalFolder, withFolder } from "../file/journal-folder.js";
import { claimOf, entryOf, resultOf, reviewOf, startOf } from "../file/runs.js";

const newKey = (): string => randomBytes(32).toString("base64");
const KEY = newKey();

function contractOf(name: string, codec: () => JournalCodec): void {
  journalContract(name, {
    reopens: true,
    shared: true,
    create: () => {
      const folder = new JournalFolder();
      const open = (): Journal => sealedJournal(folder.open(), codec());
      return {
        journal: open(),
        reopen: open,
        another: open,
        abandon: (claim) => folder.abandon(claim),
        dispose: () => folder.close(),
      };
    },
  });
}

contractOf("in a folder, sealed", () => aesJournalCodec({ current: KEY }));

/** A codec that answers later, the first call last. */
function slowCodec(): JournalCodec {
  const codec = aesJournalCodec({ current: KEY });
  let calls = 0;
  return {
    seal: async (text, runId) => {
      for (let waits = Math.max(0, 20 - calls++); waits > 0; waits--) await Promise.resolve();
      return codec.seal(text, runId);
    },
    open: async (sealed, runId) => codec.open(sealed, runId),
  };
}

/** All contents of a folder, as one text. */
async function textOf(folder: string): Promise<string> {
  let text = "";
  for (const name of await readdir(folder, { recursive: true })) {
    text += name;
    text += await readFile(join(folder, name), "latin1").catch(() => "");
  }
  return text;
}

describe("a sealed journal", () => {
  const withSealed = (
    body: (journal: Journal, folder: JournalFolder) => Promise<void>,
    codec = aesJournalCodec({ current: KEY }),
  ): Promise<void> => withFolder((folder) => body(sealedJournal(folder.open(), codec), folder));

  it("leaves no readable text, hash or answer on the disk", () =>
    withSealed(async (journal, folder) => {
      const start = startOf("r", { inputs: { a: "SECRET1" }, inputsHash: "SECRET2" });
      const claim = await journal.claim({ ...claimOf("r"), start });
      for (const kind of ["intent", "task", "failed", "call", "review"] as const)
        await journal.append(claim, entryOf(kind, { kind, value: { deep: ["SECRET3"] }, hash: "SECRET4" })); // prettier-ignore
      await journal.reviews.ask({
        ...reviewOf("r", "a"),
        agentRole: "SECRET5",
        taskDescription: "SECRET5",
        taskOutput: "SECRET5",
        prompt: "SECRET5",
        toolName: "SECRET5",
        input: { a: "SECRET5" },
      });
      const waiting = journal.reviews.waitFor("r-a", new AbortController().signal);
      const decision = ReviewDecision.edit("SECRET6", { by: "SECRET6", comment: "SECRET6" });
      await journal.reviews.resolve("r-a", decision);
      expect(await waiting).to.deep.equal(decision);
      await journal.claim(claimOf("c"));
      await journal.cancel("c", "SECRET7");
      const cancelling = await textOf(folder.path);
      const result = resultOf("r", { raw: "SECRET8", error: { code: "AE_X", message: "SECRET8" } });
      await journal.release(claim, { status: "waiting", waitsFor: "SECRET9", result });
      await journal.create(startOf("s", { inputs: "SECRET1" }), [entryOf("x", { value: "SECRET3" })], "SECRET9"); // prettier-ignore
      await journal.amend("s", entryOf("y", { value: "SECRET3" }));
      const text = cancelling + (await textOf(folder.path));
      expect(text).to.include('"inputs":{"sealed":"').and.include("c.jsonl.cancel");
      expect(/SECRET\d/.exec(text)?.[0]).to.equal(undefined);
      const kept = await journal.get("r");
      expect([kept?.inputs, kept?.inputsHash, kept?.waitsFor, kept?.result]).to.deep.equal([
        { a: "SECRET1" },
        "SECRET2",
        "SECRET9",
        result,
      ]);
      expect((await journal.entries("r"))[0]?.hash).to.equal("SECRET4");
    }));

  it("seals the same text differently each time", () => {
    const codec = aesJournalCodec({ current: KEY });
    expect(codec.seal("a", "r")).to.not.equal(codec.seal("a", "r"));
  });

  it("refuses a text without the form of an encrypted text", () => {
    const codec = aesJournalCodec({ current: KEY });
    const sealed = codec.seal("Ada", "r") as string; // this codec does not wait
    const id = sealed.slice(0, 9);
    expect(codec.open(sealed, "r")).to.equal("Ada");
    for (const text of [
      "",
      "Ada",
      id,
      `${id}Ada Lovelace`,
      ` ${sealed}`,
      `${sealed}\n`,
      `${sealed}=`,
    ])
      expect(() => codec.open(text, "r"), JSON.stringify(text)).to.throw(
        "A text of run 'r' is not sealed",
      );
  });

  it("keeps the order of entries with a codec that answers late", () =>
    withSealed(async (journal) => {
      const claim = await journal.claim(claimOf("r"));
      const keys = Array.from({ length: 20 }, (_, n) => `e${n}`);
      const writing = keys.map((key) => journal.append(claim, entryOf(key)));
      await journal.release(claim, { status: "waiting" });
      await Promise.all(writing);
      expect((await journal.entries("r")).map(({ key }) => key)).to.deep.equal(keys);
    }, slowCodec()));

  it("decrypts texts of an older key, and encrypts with the new key", () =>
    withFolder(async (folder) => {
      const before = newKey();
      const old = sealedJournal(folder.open(), aesJournalCodec({ current: before }));
      const claim = await old.claim(claimOf("r"));
      await old.append(claim, entryOf("a"));
      await old.release(claim, { status: "waiting" });
      const now = newKey();
      const codec = aesJournalCodec({ current: now, previous: [before] });
      const journal = sealedJournal(folder.open(), codec);
      const next = await journal.claim(claimOf("r"));
      await journal.append(next, entryOf("b"));
      expect((await journal.entries("r")).map(({ value }) => value)).to.deep.equal(["a's", "b's"]);
      const error = await rejectionOf(JournalError, old.entries("r"));
      expect(error.message).to.match(/is sealed with key '[0-9a-f]{8}'/);
      expect(error.message).to.not.include(before).and.not.include(now);
    }));

  it("refuses a wrong key by a name, and keeps the run unchanged", () =>
    withFolder(async (folder) => {
      const journal = sealedJournal(folder.open(), aesJournalCodec({ current: KEY }));
      await journal.release(await journal.claim(claimOf("r")), { status: "waiting" });
      const text = await textOf(folder.path);
      const wrong = sealedJournal(folder.open(), aesJournalCodec({ current: newKey() }));
      for (const call of [() => wrong.claim(claimOf("r")), () => wrong.get("r")]) {
        const error = await rejectionOf(JournalError, call());
        expect(error.message).to.match(
          /sealed with key '[0-9a-f]{8}', which is not among the keys/,
        );
      }
      expect((await wrong.list()).runs).to.deep.equal((await folder.open().list()).runs);
      expect(await textOf(folder.path)).to.equal(text);
    }));

  it("refuses texts that were moved to another run, another entry, or changed", () =>
    withSealed(async (journal, folder) => {
      for (const id of ["r", "s"]) {
        const claim = await journal.claim(claimOf(id));
        for (const key of ["a", "b"])
          await journal.append(claim, entryOf(key, { value: `${id} ${key}` }));
        await journal.release(claim, { status: "waiting" });
      }
      const [path, other] = [join(folder.path, "r.jsonl"), join(folder.path, "s.jsonl")];
      const lines = (await readFile(path, "utf8")).split("\n");
      const otherLines = (await readFile(other, "utf8")).split("\n");
      const line = lines.findIndex((text) => text.includes('"key":"a"'));
      const sealedIn = (text = ""): string => /"sealed":"([^"]+)"/.exec(text)?.[1] ?? "";
      const mine = sealedIn(lines[line]);
      for (const text of [
        sealedIn(otherLines[line]),
        sealedIn(lines[line + 1]),
        `${mine.slice(0, -4)}AAAA`,
        `${mine.slice(0, 12)}${mine[12] === "A" ? "B" : "A"}${mine.slice(13)}`,
        mine.slice(0, 20),
        "plain",
      ]) {
        await writeFile(path, lines.join("\n").replace(mine, text));
        await rejectionOf(JournalError, journal.claim(claimOf("r")));
        await rejectionOf(JournalError, journal.entries("r"));
      }
      await writeFile(path, lines.join("\n"));
      expect((await journal.claim(claimOf("r"))).record.status).to.be.oneOf(["waiting", "failed"]);
    }));

  it("refuses to execute or show a run that was stored without a key, and lists it", () =>
    withSealed(async (journal, folder) => {
      const plain = folder.open();
      await plain.release(await plain.claim(claimOf("r")), {
        status: "completed",
        result: resultOf("r"),
      });
      for (const call of [() => journal.claim(claimOf("r")), () => journal.get("r")])
        await rejectionOf(JournalError, call());
      expect((await journal.list()).runs.map(({ runId }) => runId)).to.deep.equal(["r"]);
    }));

  it("refuses a decision that was given without the key", () =>
    withSealed(async (journal, folder) => {
      await journal.reviews.ask(reviewOf("r", "a"));
      const plain = folder.open();
      await plain.reviews.resolve("r-a", ReviewDecision.continue({ by: "mallory" }));
      const waiting = journal.reviews.waitFor("r-a", new AbortController().signal);
      expect(await rejection(waiting)).to.be.instanceOf(JournalError);
    }));

  it("refuses a question and a decision that were moved to another review of the run", () =>
    withSealed(async (journal, folder) => {
      for (const name of ["a", "b"]) await journal.reviews.ask(reviewOf("r", name));
      await journal.reviews.resolve("r-a", ReviewDecision.continue());
      const reviews = join(folder.path, "reviews");
      const [decision = ""] = await folder.files(".decision.json", reviews);
      const moved = decision.replace("r-a.", "r-b.");
      await copyFile(decision, moved);
      const waiting = journal.reviews.waitFor("r-b", new AbortController().signal);
      await rejectionOf(JournalError, waiting);
      await rm(moved);
      const [question = "", other = ""] = (await folder.files(".review.json", reviews)).toSorted();
      const [mine, others] = await Promise.all(
        [question, other].map((path) => readFile(path, "utf8")),
      );
      const text = (of = ""): string => /"taskDescription":"([^"]+)"/.exec(of)?.[1] ?? "";
      await writeFile(other, (others ?? "").replace(text(others), text(mine)));
      expect(await journal.reviews.pending()).to.deep.equal([]);
      const answering = Promise.resolve(journal.reviews.resolve("r-b", ReviewDecision.continue()));
      await rejectionOf(JournalError, answering);
    }));

  it("omits reviews of another key from the inbox, and names their key in one warning", () =>
    withFolder(async (folder) => {
      const theirs = sealedJournal(folder.open(), aesJournalCodec({ current: newKey() }));
      for (const name of ["a", "b"]) await theirs.reviews.ask(reviewOf("s", name));
      const mine = sealedJournal(folder.open(), aesJournalCodec({ current: KEY }));
      await mine.reviews.ask(reviewOf("r", "a"));
      const idsIn = async ({ reviews }: Journal): Promise<readonly string[]> =>
        (await reviews.pending()).map(({ reviewId }) => reviewId).sort();
      const warnings = await warningsOf(async () => {
        expect(await idsIn(mine)).to.deep.equal(["r-a"]);
        expect(await idsIn(mine)).to.deep.equal(["r-a"]);
      });
      expect(warnings.length).to.equal(1);
      expect(warnings[0]).to.match(/2 sealed reviews .*'s-[ab]'.* key '[0-9a-f]{8}'/);
      const answer = ReviewDecision.continue();
      await rejectionOf(JournalError, Promise.resolve(mine.reviews.resolve("s-a", answer)));
      expect(await idsIn(theirs)).to.include("s-a");
      expect((await mine.reviews.resolve("r-a", answer)).outcome).to.equal("resolved");
      expect((await theirs.reviews.resolve("s-a", answer)).outcome).to.equal("resolved");
    }));

  it("refuses an invalid key, without showing it", () => {
    const short = randomBytes(16).toString("base64");
    for (const keys of [
      { current: short },
      { current: KEY, previous: [short] },
      { current: 5 as never },
    ]) {
      let error: unknown;
      try {
        aesJournalCodec(keys);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).to.be.instanceOf(ValidationError);
      expect(String(error)).to.not.include(short);
    }
  });
});
