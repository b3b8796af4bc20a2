import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { fileStore } from "../../../../src/plugins/memory/file/index.js";

// A process that writes to a memory file until it is killed, or until the file can't grow. It
// prints the acknowledged entries.

const [mode = "", path = ""] = process.argv.slice(2);
const store = fileStore(path);
const say = (line: string): number => writeSync(1, `${line}\n`);
const entryOf = (content: string): { readonly content: string; readonly storedAt: Date } => ({
  content,
  storedAt: new Date(0),
});
const codeOf = (error: unknown): string =>
  (error as { readonly code?: string }).code ?? String(error);

/**
 * Several concurrent writers, with entries from one byte to several blocks, and evictions that
 * cause compactions.
 */
async function write(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `${process.pid}-${writer}-${i}`;
    await store.store(
      "kept",
      entryOf(`${name} ${createHash("sha256").update(name).digest("hex")}`),
    );
    say(name);
    await store.store("passing", entryOf(name.repeat(1 + ((i * 97) % 900))));
    if (i % 3 === 0) await store.evict("passing", { apply: (entries) => entries.slice(-2) });
  }
}

/** Fills the file up to an external limit, frees space, and continues. */
async function fill(): Promise<void> {
  let kept = 0;
  try {
    for (; kept < 500; kept++) await store.store("s", entryOf(`${kept} ${"x".repeat(3_000)}`));
  } catch (error) {
    say(codeOf(error));
  }
  say(`${(await store.retrieve("s", "", 1_000)).length === kept}`);
  const together = await Promise.allSettled(
    Array.from({ length: 5 }, () => store.store("s", entryOf("x".repeat(3_000)))),
  );
  say(
    together
      .map((result) => (result.status === "rejected" ? codeOf(result.reason) : "stored"))
      .join(),
  );
  await store.store("s", entryOf("short"));
  say(`${kept}`);
  await store.close?.();
}

/** Holds the file until it is killed. */
async function hold(): Promise<void> {
  await store.store("s", entryOf("held"));
  say("held");
  setInterval(() => undefined, 1_000);
}

/** Opens the file, stores once, and prints whether this succeeded. */
async function contend(): Promise<void> {
  try {
    await store.store("s", entryOf(`${process.pid}`));
    say("in");
  } catch (error) {
    say(codeOf(error));
  }
  process.stdin.resume().once("end", () => void store.close?.());
}

if (mode === "write") await Promise.all([1, 2, 3, 4].map(write));
if (mode === "fill") await fill();
if (mode === "hold") await hold();
if (mode === "contend") await contend();
