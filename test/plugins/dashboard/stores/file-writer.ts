import { writeSync } from "node:fs";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { entryOf, summaryOf } from "./summaries.js";

// A process that writes runs into a folder until it is killed or fails. It prints the acknowledged
// entries.

const [mode = "", folder = ""] = process.argv.slice(2);
const store = RunStore.file(folder);
const say = (line: string): number => writeSync(1, `${line}\n`);
const codeOf = (error: unknown): string =>
  (error as { readonly code?: string }).code ?? String(error);

/** Writes entries of several sizes, and a summary after each. */
async function write(): Promise<void> {
  for (let n = 0; ; n++) {
    await store.append("killed", [entryOf(n, { text: "x".repeat((n * 997) % 30_000) })]);
    await store.put(summaryOf("killed", { state: "running", n }));
    say(String(n));
  }
}

/** Writes until the file can't grow, and reads the written entries. */
async function fill(): Promise<void> {
  await store.put(summaryOf("full", { state: "running" }));
  let n = 0;
  try {
    for (; n < 1_000; n++) await store.append("full", [entryOf(n, { text: "x".repeat(10_000) })]);
  } catch (error) {
    say(codeOf(error));
  }
  say(String((await store.read("full", -1, 2_000)).length === n && n > 10));
  await store.append("full", [entryOf(n, { text: "short" })]);
  say(String((await store.read("full", -1, 2_000)).length === n + 1));
  await store.dispose?.();
}

if (mode === "write") await write();
if (mode === "fill") await fill();
