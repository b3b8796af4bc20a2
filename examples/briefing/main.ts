// A team reads documents and writes a briefing. Every quotation of the briefing is checked against
// its source.
// Run it: npm start -- [file or folder] [--out folder]
// npm start -- --help prints all options.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentEnsembleError, RunCancelledError, type EnsembleOutput } from "agentensemble";
import { chooseModel } from "../support/model.js";
import { HELP, readCommandLine, type CommandLine } from "./command-line.js";
import { listDocuments, titleOf } from "./documents.js";
import { grouped, quotationsIn } from "./quotations.js";
import { briefingTeam, type BriefingTeam } from "./team.js";
import { counted, explain, printable, startOf } from "./terminal.js";

/** The command that shows a trace. */
const READ = "npx agentensemble trace show";

/**
 * Checks that the files can be written, before any cost arises, and removes the files of an earlier
 * run.
 */
async function prepareOutput(out: string, files: readonly string[]): Promise<void> {
  try {
    await mkdir(out, { recursive: true });
    for (const file of files) {
      await writeFile(file, "");
      await rm(file);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot write to the output folder '${out}': ${reason}`, { cause });
  }
}

/** The notice for a model that can only quote. */
const NOT_DONE =
  "Not done: this model only quotes. It has summarized and compared nothing; with OPENAI_API_KEY or ANTHROPIC_API_KEY set, a model writes.";
/** The rows of a terminal for other lines: those of npm, the heading, the totals and the end. */
const OTHER_ROWS = 16;
/** The number of rows without a terminal. */
const ROWS_WITHOUT_TERMINAL = 12;

/** The text of the briefing, and the lines below it. */
function composed(
  team: BriefingTeam,
  output: EnsembleOutput,
  model: string,
): { readonly text: string; readonly notes: string } {
  const read = [...team.reads].map(([name, task]) => [name, output.getOutput(task)?.raw ?? ""]);
  const titles = new Map(read.map(([name = "", text = ""]) => [name, titleOf(text, name)]));
  const raw = output.getOutput(team.briefing)?.raw ?? "";
  const groups = grouped(raw, titles);
  const text = groups ?? raw;
  const report = output.getOutput(team.check)?.parsed;
  const sources = new Set(quotationsIn(text).map(({ source }) => source));
  const unquoted = [...titles.keys()].filter((name) => !sources.has(name));
  const notes = [
    `${counted(report?.quotations ?? 0, "quotation")}, each found word for word in its source (${counted(report?.documents ?? 0, "document")} read). Model: ${model}.`,
    ...(unquoted.length > 0 ? [`Nothing is quoted from ${unquoted.join(", ")}.`] : []),
    ...(groups === undefined ? [] : [NOT_DONE]),
  ];
  return { text, notes: notes.join("\n") };
}

/** Returns the part of the briefing that fits on one screen. */
function shown(text: string, file: string): string {
  const { isTTY, columns, rows } = process.stdout;
  const size = isTTY
    ? { columns: columns || 80, rows: Math.max(4, (rows || 24) - OTHER_ROWS) } // 0: not reported
    : { columns: 120, rows: ROWS_WITHOUT_TERMINAL };
  const { start, left } = startOf(text, size);
  return left === 0 ? start : `${start}\n... ${counted(left, "more line")} in ${file}`;
}

async function writeBriefing({ input, out }: CommandLine, signal: AbortSignal): Promise<void> {
  const briefingFile = join(out, "briefing.md");
  const traceFile = join(out, "trace.json");
  const { documents, skipped } = await listDocuments(input, briefingFile);
  const { model, name, note } = chooseModel(8);
  await prepareOutput(out, [briefingFile, traceFile]);

  const why = name.startsWith("offline:") ? "runs here and can only quote sentences" : note;
  console.log(printable(`Briefing on ${counted(documents.length, "document")} from ${input}`));
  for (const line of skipped) console.log(printable(`  left out: ${line}`));
  console.log(printable(`Model: ${name} (${why})`));

  const team = briefingTeam(documents, { model, traceFile });
  const output = await team.ensemble
    .run({}, { signal })
    .catch((error: unknown) => {
      if (AgentEnsembleError.isInstance(error) && error.output !== undefined)
        console.log(`No briefing was written. What happened: ${READ} ${traceFile}\n`);
      throw error;
    })
    .finally(() => team.ensemble.dispose());

  const { text, notes } = composed(team, output, name);
  const list = documents.map((document) => `- ${document.name}`);
  const skips = skipped.map((line) => `- left out: ${line}`);
  await writeFile(
    briefingFile,
    `# Briefing: ${input}\n\n${text}\n\n## Sources\n\n${[...list, ...skips].join("\n")}\n\n${notes}\n`,
  );
  console.log(
    printable(
      `\n${shown(text, briefingFile)}\n\n${notes}\nBriefing: ${briefingFile}\nWatch it: npx agentensemble dashboard ${traceFile}\nTrace:    ${READ} ${traceFile}`,
    ),
  );
}

const cancel = new AbortController();
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
  code === "EPIPE" ? cancel.abort() : undefined,
); // the reader of the pipe has ended
process.once("SIGINT", () => cancel.abort()); // a second Ctrl-C ends the process as usual
try {
  const commandLine = readCommandLine(process.argv.slice(2));
  if (commandLine.help) console.log(HELP);
  else await writeBriefing(commandLine, cancel.signal);
} catch (error) {
  console.error(explain(error, process.env["DEBUG"] === "1"));
  process.exitCode = RunCancelledError.isInstance(error) ? 130 : 1;
}
