// Runs each compiled example unchanged, with its runs stored by durable(). Runs it once to its end.
// Then kills it after a random entry of its journal, and runs it again. All runs must end as
// without a journal: same outputs, same totals. Prints a table. Fails if a run differs. Arguments
// select examples by the beginnings of their names. FUZZ_SEED repeats the kills of an earlier run.
// DURABLE_EXAMPLE_KILLS=all: kills after each entry except the last.
import { spawnSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const LIMIT_MS = 180_000;
const seed = process.env.FUZZ_SEED ?? String(randomInt(2 ** 31));

/** Excluded examples, with the reason. Examples that use durable() kill their own processes. */
const EXCLUDED = {
  "23-memory-across-runs.js": "its store is in memory, and empty in a new process",
  "25-human-review.js":
    "its person types the same keys in each process, independently of earlier answers",
  "34-record-and-replay.js": "it compares the random ids of its runs",
  "43-web-tools.js": "the addresses in its requests have another port in each process",
  "64-two-services-over-a2a.js":
    "its runs are those of processes that it starts, which take the same ids",
  "72-one-board.js": "its runs are those of processes that it starts, which take the same ids",
  "81-choose-a-model.js":
    "one of its models answers by the number of the call, which starts again in a new process",
  "83-evaluate-and-pay-once.js":
    "it repeats an evaluation, whose runs have the same ids and are answered by the journal",
};

/** Variables that would make an example use a real model. */
const CLEARED =
  /^(OPENAI|ANTHROPIC)_|^AGENTENSEMBLE_MODEL$|^NODE_OPTIONS$|^NODE_V8_COVERAGE$|^DEBUG$/;

/**
 * Runs one process of an example. Returns the ends of its runs by id, the number of written
 * entries, and the problem.
 */
function play(example, folder, { journal, kill, name, resumes = false }) {
  const ends = join(folder, `${name}.jsonl`);
  const inherited = Object.entries(process.env).filter(([key]) => !CLEARED.test(key));
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ["--import", "./scripts/durable-preload.mjs", `dist/examples/${example}`],
    {
      cwd: root,
      encoding: "utf8",
      timeout: LIMIT_MS,
      env: {
        ...Object.fromEntries(inherited),
        NO_COLOR: "1",
        DURABLE_EXAMPLE_ENDS: ends,
        DURABLE_EXAMPLE_ANSWERS: join(folder, "answers.jsonl"),
        ...(resumes && { DURABLE_EXAMPLE_RESUMES: "1" }),
        ...(journal !== undefined && { DURABLE_EXAMPLE: journal }),
        ...(kill !== undefined && { DURABLE_EXAMPLE_KILL: String(kill) }),
      },
    },
  );
  const lines = existsSync(ends) ? readFileSync(ends, "utf8").trim().split("\n") : [];
  const parsed = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  const entries = Math.max(0, ...parsed.map((end) => end.entries));
  const runs = parsed.map((end) => JSON.stringify({ ...end, entries: undefined })).sort();
  return { runs, entries, status, signal, stderr };
}

/** Returns the entries after which a process is killed: from 1, without the last entry. */
function killsOf(example, entries) {
  if (process.env.DURABLE_EXAMPLE_KILLS === "all")
    return Array.from({ length: entries - 1 }, (_, i) => i + 1);
  const number = createHash("sha256").update(`${seed}/${example}`).digest().readUInt32BE(0);
  return [1 + (number % (entries - 1))];
}

function differenceOf(expected, { runs, status, signal, stderr }) {
  if (status !== 0) return `ended with ${signal ?? status}: ${stderr.trim().slice(-400)}`;
  if (runs.length !== expected.runs.length)
    return `${runs.length} runs instead of ${expected.runs.length}`;
  const at = runs.findIndex((run, index) => run !== expected.runs[index]);
  return at < 0 ? undefined : `${runs[at].slice(0, 600)}\n  instead of ${expected.runs[at].slice(0, 600)}`; // prettier-ignore
}

/** Kills the example after an entry, and runs it again. Returns the problem. */
function killedAt(kill, { example, folder, plain }) {
  const journal = join(folder, `killed-${kill}`);
  const killed = play(example, folder, { name: `killed-${kill}`, journal, kill });
  if (killed.signal !== "SIGKILL") return { result: "NOT KILLED" };
  const resumed = play(example, folder, { name: `resumed-${kill}`, journal, resumes: true });
  const problem = differenceOf(plain, resumed);
  return problem === undefined ? undefined : { result: "DIFFERS", problem };
}

function check(example) {
  const folder = mkdtempSync(join(tmpdir(), "agentensemble-durable-"));
  try {
    writeFileSync(join(folder, "answers.jsonl"), "");
    const plain = play(example, folder, { name: "plain" });
    if (plain.runs.length === 0) return { example, result: "starts no run" };
    const whole = play(example, folder, {
      name: "whole",
      journal: join(folder, "whole"),
    });
    const problem = differenceOf(plain, whole);
    if (problem !== undefined) return { example, result: "DIFFERS", problem };
    const { entries } = whole;
    if (entries < 2) return { example, entries, result: "equal, too short to be killed" };
    const kills = killsOf(example, entries);
    const kill = kills.length === 1 ? kills[0] : "all";
    for (const one of kills) {
      const wrong = killedAt(one, { example, folder, plain });
      if (wrong !== undefined) return { example, entries, kill: one, ...wrong };
    }
    return { example, entries, kill, result: "equal" };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const all = readdirSync(`${root}dist/examples`).filter((file) => /^\d\d-.*\.js$/.test(file));
const chosen = all
  .sort()
  .filter((file) => wanted.length === 0 || wanted.some((start) => file.startsWith(start)));
console.log(`FUZZ_SEED=${seed}`);
const results = chosen.map((example) => {
  const reason = EXCLUDED[example];
  if (reason !== undefined) return { example, result: `excluded: ${reason}` };
  if (readFileSync(`${root}dist/examples/${example}`, "utf8").includes("agentensemble/durability"))
    return { example, result: "keeps its runs by itself" };
  const result = check(example);
  if (result.problem !== undefined) console.error(`${example}: ${result.problem}`);
  return result;
});
console.table(results.map(({ example, entries, kill, result }) => ({ example, entries, kill, result }))); // prettier-ignore
if (results.length === 0 || results.some(({ result }) => /^[A-Z]{3}/.test(result)))
  process.exitCode = 1;
