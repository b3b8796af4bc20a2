import { Command } from "commander";
import type { OutputTerminal } from "./terminal.js";
import { dagCommand } from "./dag-command.js";
import { doctorCommand } from "./doctor-command.js";
import { explainCommand } from "./explain-command.js";
import { ownPackage } from "./own-package.js";
import type { RunArguments } from "./run-command.js";
import type { ReplayCommandOptions } from "./replay-command.js";
import { replayCommand } from "./replay-command.js";
import { runCommand } from "./run-command.js";
import { traceDiffCommand } from "./trace-diff-command.js";
import { traceShowCommand } from "./trace-show-command.js";

const FILE =
  "JavaScript or TypeScript that default-exports an Ensemble, or a function that returns one";
const EXIT_CODES = `
Exit codes:
  0    done (a run that a reviewer ended early included)
  1    the run failed; of "trace diff": the runs differ
  2    wrong arguments, a file that can't be used, an ensemble that can't be run
  124  the run did not end within its time limit
  130  the run was cancelled
`;

/** Takes the exit code of the command that ran. */
type Done = (code: number) => void;

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join("")}`;
}

/** What every command takes. */
function common(command: Command): Command {
  return command
    .option("--json", "print one JSON document")
    .option("--verbose", "show where errors come from");
}

function withInputs(command: Command): Command {
  return command
    .option(
      "--input <name=value>",
      "a value for {name} in the tasks, as often as needed; name=@file takes a file's text",
      collect,
    )
    .option("--inputs <file.json>", "values from a JSON object; --input comes before it");
}

/** What `run` and `replay` have in common. */
function withRunOptions(command: Command): Command {
  return withInputs(command)
    .option("--capture <mode>", "how much the trace keeps: NONE, OFF, STANDARD or FULL")
    .option("--timeout <duration>", "cancel after 500ms, 30s, 5m, 1h")
    .option("--trace <file.json>", "write the trace, also of a run that fails")
    .option(
      "--review <where>",
      'who answers reviews: "console" (default at a terminal) asks here, "none" nobody',
    )
    .option("-q, --quiet", "no progress; warnings and errors are printed all the same");
}

function addRun(program: Command, terminal: OutputTerminal, done: Done): void {
  const run = program
    .command("run")
    .description("run an ensemble: progress on standard error, the final text on standard output");
  common(withRunOptions(run))
    .option("--model <provider:model>", "for every task of this run, whatever the file says")
    .option("--record <file.jsonl>", "record the run, for replay")
    .argument("<file>", FILE)
    .addHelpText(
      "after",
      example(
        "agentensemble run team.mjs --input topic=otters",
        "agentensemble run team.ts --model offline:extractive --timeout 30s --json",
      ) + EXIT_CODES,
    )
    .action(async (file: string, o: RunArguments) => done(await runCommand(file, o, terminal)));
  const replay = program
    .command("replay")
    .description(
      "run an ensemble from a recording, or from a trace of capture mode FULL; no model is called",
    );
  common(withRunOptions(replay))
    .option(
      "--on-miss <what>",
      'of a request that was not recorded: "fail" (default), or "live" to ask the model from there on',
    )
    .argument("<recording>", "what run --record or recordTo() wrote")
    .argument("<file>", FILE)
    .addHelpText(
      "after",
      example("agentensemble replay recording.jsonl team.mjs --input topic=otters") + EXIT_CODES,
    )
    .action(async (recording: string, file: string, o: ReplayCommandOptions) =>
      done(await replayCommand(recording, file, o, terminal)),
    );
}

function addPlans(program: Command, terminal: OutputTerminal, done: Done): void {
  common(
    withInputs(
      program
        .command("explain")
        .description("show what a run would send, and what it may cost; no model is called"),
    ),
  )
    .argument("<file>", FILE)
    .option("--plugins", "show instead which plugin binds which token and taps which hook")
    .addHelpText("after", example("agentensemble explain team.mjs --input topic=otters"))
    .action(async (file: string, o: Parameters<typeof explainCommand>[1]) =>
      done(await explainCommand(file, o, terminal)),
    );
  common(
    program
      .command("dag")
      .description("show the tasks and what they wait for, as a Mermaid flowchart or as JSON"),
  )
    .argument("<file>", FILE)
    .addHelpText(
      "after",
      example(
        "agentensemble dag team.mjs > team.mmd",
        "agentensemble dag team.mjs --json > team.dag.json",
      ),
    )
    .action(async (file: string, o: { readonly json?: boolean }) =>
      done(await dagCommand(file, o, terminal)),
    );
}

function addTrace(program: Command, terminal: OutputTerminal, done: Done): void {
  const trace = program.command("trace").description("look at the traces of runs");
  common(
    trace.command("show").description("show what a run did as a tree, with tokens, cost and time"),
  )
    .argument("<trace.json>", "a trace of schema 1.x")
    .option("--task <id>", "only this task, by its id or its agent's role, with its texts in full")
    .option("--errors", "only what went wrong")
    .addHelpText(
      "after",
      example(
        "agentensemble trace show out.json",
        "agentensemble trace show out.json --task task-2",
      ),
    )
    .action(async (file: string, o: Parameters<typeof traceShowCommand>[1]) =>
      done(await traceShowCommand(file, o, terminal)),
    );
  common(
    trace
      .command("diff")
      .description("compare two runs task by task; exit code 1 when tasks or outputs differ"),
  )
    .argument("<a.json>", "a trace of schema 1.x")
    .argument("<b.json>", "another one")
    .addHelpText("after", example("agentensemble trace diff before.json after.json"))
    .action(async (a: string, b: string, o: { readonly json?: boolean }) =>
      done(await traceDiffCommand(a, b, o, terminal)),
    );
}

function addDoctor(program: Command, terminal: OutputTerminal, done: Done): void {
  common(
    program
      .command("doctor")
      .description(
        "show versions, keys (present or not) and optional packages; of a file also what stops a run, with exit code 2",
      ),
  )
    .argument("[file]", FILE)
    .addHelpText("after", example("agentensemble doctor", "agentensemble doctor team.mjs"))
    .action(async (file: string | undefined, o: { readonly json?: boolean }) =>
      done(await doctorCommand(file, o, terminal)),
    );
}

/** The commands and their help. Parsing throws CommanderError where commander has something to say. */
export function commandLine(terminal: OutputTerminal, done: Done): Command {
  const program = new Command("agentensemble")
    .description("Runs teams of LLM agents, and shows what they will do and did.")
    .version(ownPackage().version)
    .exitOverride()
    .showHelpAfterError("Run it with --help to see what it takes.")
    .addHelpText(
      "after",
      `${example("agentensemble run team.mjs", "agentensemble doctor")}${EXIT_CODES}`,
    );
  addRun(program, terminal, done);
  addPlans(program, terminal, done);
  addTrace(program, terminal, done);
  addDoctor(program, terminal, done);
  return program;
}
