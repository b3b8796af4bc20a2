import { readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { openFileJournal } from "../../../../src/plugins/durability/shared/file/file-journal.js";
import { claimOf, entryOf } from "./runs.js";

// A process that executes or reads a run until it ends or is killed. It prints the acknowledged
// entries.

const [mode = "", folder = "", leaseMs = "10000"] = process.argv.slice(2);
const journal = openFileJournal(folder);
const say = (line: string): number => writeSync(1, `${line}\n`);
const codeOf = (error: unknown): string =>
  (error as { readonly code?: string }).code ?? String(error);

/** Writes entries of several sizes, four at a time, until it is killed or fails. */
async function write(): Promise<void> {
  const claim = await journal.claim(claimOf("r", { owner: "child", leaseMs: Number(leaseMs) }));
  say(`claimed ${claim.record.executions}`);
  const writer = async (n: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const key = `${claim.epoch}-${n}-${i}`;
      await journal.append(claim, entryOf(key, { value: key.repeat(1 + ((i * 97) % 300)) }));
      say(key);
    }
  };
  await Promise.all([1, 2, 3, 4].map(writer)).catch((error: unknown) => say(codeOf(error)));
  await journal.close();
}

/** Fills the disk, frees space, and continues. */
async function fill(): Promise<void> {
  const filler = join(folder, "..", "filler");
  writeFileSync(filler, "x".repeat(300_000));
  const claim = await journal.claim(claimOf("r"));
  let acknowledged = 0;
  try {
    for (; acknowledged < 1_000; acknowledged++)
      await journal.append(claim, entryOf(`e${acknowledged}`, { value: "x".repeat(10_000) }));
  } catch (error) {
    say(codeOf(error));
  }
  say(await journal.append(claim, entryOf("still full", { value: "x".repeat(20_000) })).then(() => "kept", codeOf)); // prettier-ignore
  say(`${(await journal.entries("r")).length === acknowledged && acknowledged > 10}`);
  say(await journal.claim(claimOf("s")).then(() => "claimed", codeOf));
  rmSync(filler);
  const refused = `e${acknowledged}`;
  await journal.append(claim, entryOf(refused, { value: "x".repeat(10_000) }));
  await journal.release(claim, { status: "waiting" });
  const { entries } = await journal.claim(claimOf("r"));
  say(`${entries.length === acknowledged + 1 && entries.at(-1)?.key === refused}`);
  await journal.release(await journal.claim(claimOf("s")), { status: "waiting" });
  say(readdirSync(folder).filter((name) => name.startsWith(".")).join() || "no drafts"); // prettier-ignore
  await journal.close();
}

/** Uses an unwritable folder. */
async function refuse(): Promise<void> {
  say(await journal.claim(claimOf("r")).then(() => "claimed", (error: Error) => `${codeOf(error)} ${error.message}`)); // prettier-ignore
  say(String((await journal.list()).runs.length));
  await journal.close();
}

/** Leaves all resources open: none of them may keep the process alive. */
async function leave(): Promise<void> {
  const claim = await journal.claim(claimOf("r"));
  await journal.append(claim, entryOf("a"));
  journal.reviews.onRequest(() => undefined);
  say("left");
}

async function answer(): Promise<void> {
  const [review] = await journal.reviews.pending();
  const decision = ReviewDecision.edit("better", { by: "child" });
  const { outcome } = await journal.reviews.resolve(review?.reviewId ?? "", decision);
  say(outcome);
  await journal.close();
}

if (mode === "write") await write();
if (mode === "fill") await fill();
if (mode === "refuse") await refuse();
if (mode === "leave") await leave();
if (mode === "answer") await answer();
