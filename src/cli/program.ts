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
    .description(
      "run an ensemble; progress is on standard error, the final text on standard output",
    );
  common(withKeeping(withExecution(withInputs(run))))
    .option("--durable", "store the run, so that it can be resumed after the end of the process")
    .option("--run-id <id>", "id of the run; with --durable, the same command resumes the run")
    .option("--tag <name=value>", "tag of the run; repeatable", collect)
    .option("--model <provider:model>", "model of every task; overrides the models in the file")
    .option("--record <file.jsonl>", "record the run for a replay")
    .option("--dashboard [port]", "show the run on a local web page (default port: 7329)")
    .option("--stay", "with --dashboard: do not end until the page is closed")
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
      'for a request that was not recorded: "fail" (default), or "live" to call the model from then on',
    )
    .argument("<recording>", "file written by run --record or recordTo()")
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
        .description("show the prompts and the maximum cost of a run; no model is called"),
    ),
  )
    .argument("<file>", FILE)
    .option("--plugins", "show the tokens that each plugin binds and the hooks that it taps")
    .addHelpText("after", example("agentensemble explain team.mjs --input topic=otters"))
    .action(async (file: string, o: Parameters<typeof explainCommand>[1]) =>
      done(await explainCommand(file, o, terminal)),
    );
  common(
    program
      .command("dag")
      .description("print the tasks and their dependencies as a Mermaid flowchart or as JSON"),
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
  const trace = program.command("trace").description("show or compare traces of runs");
  common(
    trace
      .command("show")
      .description("show the steps of a run as a tree, with tokens, cost and time"),
  )
    .argument("<trace>", "trace of schema 1.x; with --store, the id of a stored run")
    .option(
      "--store <url>",
      "show a run of this store: file:<folder>, pglite:<folder>, postgres://",
    )
    .option("--task <id>", "show only this task (its id or its agent's role), with complete texts")
    .option("--errors", "show only errors")
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
      .description("compare the tasks of two runs; exit code 1 if tasks or outputs differ"),
  )
    .argument("<a.json>", "trace of schema 1.x")
    .argument("<b.json>", "another trace")
    .addHelpText("after", example("agentensemble trace diff before.json after.json"))
    .action(async (a: string, b: string, o: { readonly json?: boolean }) =>
      done(await traceDiffCommand(a, b, o, terminal)),
    );
}

function addDashboard(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(
    program
      .command("dashboard")
      .description("serve a web page with stored runs, or with runs of ensembles, until Ctrl-C"),
  )
    .argument(
      "[paths...]",
      "folders of runs or traces, *.trace.json and *.dag.json files (default: ./traces and the store); or programs whose ensembles the page can start",
    )
    .option("--port <number>", "port, or 0 for a free port (default: 7329)")
    .option(
      "--host <host>",
      "address to listen on (default: 127.0.0.1); other addresses require --token",
    )
    .option("--token [token]", "token for signing in; without a value, a random token")
    .option("--open", "open the page in the browser")
    .option(
      "--allowed-host <name>",
      "name under which browsers reach the host 0.0.0.0; repeatable",
      collect,
    )
    .option(
      "--store <url>",
      "also show the runs in file:<folder>, pglite:<folder> or postgres://... (default: AGENTENSEMBLE_STORE, else file:./.agentensemble)",
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
        "show versions, which keys are set, and optional packages; for a file, also the problems that prevent a run (exit code 2)",
      ),
  )
    .argument("[file]", FILE)
    .option("--store <url>", "also check the store of runs (default: AGENTENSEMBLE_STORE)")
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
    .description("Runs teams of LLM agents, and shows their plans and results.")
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
