// A team reads documents and writes a briefing in which every quotation is checked against its source.
// Run it: npm start -- [file or folder] [--out folder]     (npm start -- --help tells the rest)
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentEnsembleError, RunCancelledError } from "agentensemble";
import { chooseModel } from "../support/model.js";
import { HELP, readCommandLine, type CommandLine } from "./command-line.js";
import { listDocuments } from "./documents.js";
import { briefingTeam } from "./team.js";
import { counted, explain, printable } from "./terminal.js";

/** The command that shows a trace. */
const READ = "npx agentensemble trace show";

/** Makes sure that the files can be written, before anything is spent, and removes those of an earlier run. */
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

async function writeBriefing({ input, out }: CommandLine, signal: AbortSignal): Promise<void> {
  const briefingFile = join(out, "briefing.md");
  const traceFile = join(out, "trace.json");
  const { documents, skipped } = await listDocuments(input, briefingFile);
  const { model, name, note } = chooseModel(8);
  await prepareOutput(out, [briefingFile, traceFile]);

  console.log(printable(`Briefing on ${counted(documents.length, "document")} from ${input}`));
  for (const line of skipped) console.log(printable(`  left out: ${line}`));
  console.log(printable(`Model: ${name} (${note})\n`));

  const { ensemble, briefing, check } = briefingTeam(documents, { model, traceFile });
  const output = await ensemble
    .run({}, { signal })
    .catch((error: unknown) => {
      if (AgentEnsembleError.isInstance(error) && error.output !== undefined)
        console.log(`No briefing was written. What happened: ${READ} ${traceFile}\n`);
      throw error;
    })
    .finally(() => ensemble.dispose());

  const text = output.getOutput(briefing)?.raw ?? "";
  const { quotations, documents: sources } = output.getOutput(check)?.parsed ?? {
    quotations: 0,
    documents: 0,
  };
  const checked = `${counted(quotations, "quotation")}, each found word for word in its source (${counted(sources, "document")} read). Model: ${name}.`;
  const list = documents.map((document) => `- ${document.name}`).join("\n");
  await writeFile(
    briefingFile,
    `# Briefing: ${input}\n\n${text}\n\n## Sources\n\n${list}\n\n${checked}\n`,
  );
  console.log(
    printable(
      `${text}\n\n${checked}\nBriefing: ${briefingFile}\nTrace:    ${traceFile}\nRead it:  ${READ} ${traceFile}\nWatch it: npx agentensemble dashboard ${traceFile}`,
    ),
  );
}

const cancel = new AbortController();
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
  code === "EPIPE" ? cancel.abort() : undefined,
); // piped into something that has read enough
process.once("SIGINT", () => cancel.abort()); // once: a second Ctrl-C ends the process as usual
try {
  const commandLine = readCommandLine(process.argv.slice(2));
  if (commandLine.help) console.log(HELP);
  else await writeBriefing(commandLine, cancel.signal);
} catch (error) {
  console.error(explain(error, process.env["DEBUG"] === "1"));
  process.exitCode = RunCancelledError.isInstance(error) ? 130 : 1;
}
