import { Command } from "commander";
import type { CommandEnd } from "./command-parts.js";
import type { OutputTerminal } from "./terminal.js";
import {
  collect,
  common,
  example,
  EXIT_CODES,
  FILE,
  withExecution,
  withInputs,
  withKeeping,
} from "./command-parts.js";
import { dagCommand } from "./dag-command.js";
import { dashboardCommand, type ServedRunsArguments } from "./dashboard-command.js";
import { doctorCommand } from "./doctor-command.js";
import { addEval } from "./eval-program.js";
import { explainCommand } from "./explain-command.js";
import { ownPackage } from "./own-package.js";
import type { RunArguments } from "./run-command.js";
import type { ReplayCommandOptions } from "./replay-command.js";
import { replayCommand } from "./replay-command.js";
import { runCommand } from "./run-command.js";
import { addProjects } from "./project-program.js";
import { addReviews, addRuns } from "./runs-program.js";
import { addServices } from "./service-program.js";
import { traceDiffCommand } from "./trace-diff-command.js";
import { traceShowCommand } from "./trace-show-command.js";

function addRun(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const run = program
    .command("run")
    .description("run an ensemble: progress on standard error, the final text on standard output");
  common(withKeeping(withExecution(withInputs(run))))
    .option("--durable", "keep the run, to resume it after the end of the process")
    .option("--run-id <id>", "the id of the run; with --durable the same line again resumes it")
    .option("--tag <name=value>", "a tag of the run, as often as needed", collect)
    .option("--model <provider:model>", "for every task of this run, before the models of the file")
    .option("--record <file.jsonl>", "record the run, for replay")
    .option("--dashboard [port]", "show the run on a web page of this machine (default port 7329)")
    .option("--stay", "with --dashboard: keep running until the page is closed")
    .argument("<file>", FILE)
    .addHelpText(
      "after",
      example(
        "agentensemble run team.mjs --input topic=otters",
        "agentensemble run team.ts --model offline:extractive --timeout 30s --json",
        "agentensemble run team.ts --durable --run-id complaint-17",
      ) + EXIT_CODES,
    )
    .action(async (file: string, o: RunArguments) => done(await runCommand(file, o, terminal)));
  const replay = program
    .command("replay")
    .description(
      "run an ensemble from a recording, or from a trace of capture mode FULL; no model is called",
    );
  common(withExecution(withInputs(replay)))
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

function addPlans(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
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

function addTrace(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const trace = program.command("trace").description("look at the traces of runs");
  common(
    trace.command("show").description("show what a run did as a tree, with tokens, cost and time"),
  )
    .argument("<trace>", "a trace of schema 1.x; with --store the id of a run that is kept there")
    .option("--store <url>", "show a run that is kept: file:<folder>, pglite:<folder>, postgres://")
    .option("--task <id>", "only this task, by its id or its agent's role, with its texts in full")
    .option("--errors", "only what went wrong")
    .addHelpText(
      "after",
      example(
        "agentensemble trace show out.json",
        "agentensemble trace show out.json --task task-2",
        "agentensemble trace show complaint-17 --store file:.agentensemble",
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

function addDashboard(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(
    program
      .command("dashboard")
      .description(
        "serve a web page with runs that were kept or saved, or of ensembles, until Ctrl-C",
      ),
  )
    .argument(
      "[paths...]",
      "folders of runs or traces, *.trace.json and *.dag.json files (default: ./traces and the store); or programs whose ensembles are started on the page",
    )
    .option("--port <number>", "0 takes a free one (default: 7329)")
    .option("--host <host>", "another than 127.0.0.1 needs --token")
    .option("--token [token]", "what people sign in with; without a value a random one")
    .option("--open", "open the page in the browser")
    .option(
      "--allowed-host <name>",
      "a name under which browsers reach the host 0.0.0.0, as often as needed",
      collect,
    )
    .option(
      "--store <url>",
      "also the runs in file:<folder>, pglite:<folder> or postgres://... (default: AGENTENSEMBLE_STORE, else file:./.agentensemble)",
    )
    .addHelpText(
      "after",
      example(
        "agentensemble dashboard",
        "agentensemble dashboard traces run.trace.json --port 0",
        "agentensemble dashboard team.ts",
      ) + EXIT_CODES,
    )
    .action(async (paths: readonly string[], o: ServedRunsArguments) =>
      done(await dashboardCommand(paths, o, terminal)),
    );
}

function addDoctor(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(
    program
      .command("doctor")
      .description(
        "show versions, keys (present or not) and optional packages; for a file, also the problems that prevent a run, with exit code 2",
      ),
  )
    .argument("[file]", FILE)
    .option("--store <url>", "also check where runs are kept (default: AGENTENSEMBLE_STORE)")
    .addHelpText("after", example("agentensemble doctor", "agentensemble doctor team.mjs"))
    .action(async (file: string | undefined, o: Parameters<typeof doctorCommand>[1]) =>
      done(await doctorCommand(file, o, terminal)),
    );
}

/**
 * Creates the commands with their help. Parsing throws CommanderError for messages of commander.
 */
export function commandLine(terminal: OutputTerminal, done: CommandEnd): Command {
  const program = new Command("agentensemble")
    .description("Runs teams of LLM agents, and shows what they will do and did.")
    .version(ownPackage().version)
    .exitOverride()
    .showHelpAfterError("Run it with --help to list its arguments.")
    .addHelpText(
      "after",
      `${example("agentensemble run team.mjs", "agentensemble doctor")}${EXIT_CODES}`,
    );
  addProjects(program, terminal, done);
  addRun(program, terminal, done);
  addPlans(program, terminal, done);
  addTrace(program, terminal, done);
  addEval(program, terminal, done);
  addRuns(program, terminal, done);
  addReviews(program, terminal, done);
  addServices(program, terminal, done);
  addDashboard(program, terminal, done);
  addDoctor(program, terminal, done);
  return program;
}
