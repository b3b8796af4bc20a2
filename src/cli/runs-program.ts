import type { Command } from "commander";
import type { CommandEnd } from "./command-parts.js";
import type { ExecutionArguments } from "./run-command.js";
import type * as Reviews from "./reviews-commands.js";
import type * as Runs from "./runs-commands.js";
import type { OutputTerminal } from "./terminal.js";
import {
  collect,
  common,
  example,
  EXIT_CODES,
  FILE,
  withExecution,
  withKeeping,
  withStore,
} from "./command-parts.js";

// Loaded when they are executed: other commands start without them.
const runsCommands = (): Promise<typeof Runs> => import("./runs-commands.js");
const reviewsCommands = (): Promise<typeof Reviews> => import("./reviews-commands.js");

const RUN_ID = "id of a stored run";

function withFilter(command: Command): Command {
  return command
    .option("--status <status>", "running, waiting, interrupted, completed, failed or cancelled")
    .option("--ensemble <name>", "name of the ensemble")
    .option("--tag <name=value>", "tag of the runs; repeatable", collect)
    .option("--older-than <age>", "not changed for this time, for example 12h, 7d, 2w")
    .option("--poisoned", "ended their process five times in a row without progress");
}

/** Adds the commands of stored runs. */
export function addRuns(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const runs = program.command("runs").description("list, show, resume and delete stored runs");
  addLists(runs, terminal, done);
  addResume(runs, terminal, done);
  addChanges(runs, terminal, done);
}

function addLists(runs: Command, terminal: OutputTerminal, done: CommandEnd): void {
  withStore(withFilter(common(runs.command("list").alias("ls"))))
    .description("list runs, the newest first")
    .option("--limit <count>", "maximum number of runs (default: 50)")
    .option("--after <place>", "the `next` of the previous page")
    .addHelpText("after", example("agentensemble runs list --status waiting"))
    .action(async (o: Parameters<typeof Runs.runsListCommand>[0]) =>
      done(await (await runsCommands()).runsListCommand(o, terminal)),
    );
  withStore(common(runs.command("show")))
    .description("show a run: its state, its usage, and the reviews that it waits for")
    .argument("<run-id>", RUN_ID)
    .option("--entries", "also list the entries of the journal")
    .addHelpText("after", example("agentensemble runs show complaint-17"))
    .action(async (runId: string, o: Parameters<typeof Runs.runsShowCommand>[1]) =>
      done(await (await runsCommands()).runsShowCommand(runId, o, terminal)),
    );
}

function addResume(runs: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(withKeeping(withExecution(runs.command("resume"))))
    .description("resume a run, with its original inputs and tags")
    .argument("<file>", FILE)
    .argument("<run-id>", RUN_ID)
    .addHelpText("after", example("agentensemble runs resume team.ts complaint-17") + EXIT_CODES)
    .action(async (file: string, runId: string, o: ExecutionArguments) => {
      const { runsResumeCommand } = await import("./runs-resume-command.js");
      done(await runsResumeCommand(file, runId, o, terminal));
    });
}

function addChanges(runs: Command, terminal: OutputTerminal, done: CommandEnd): void {
  withStore(common(runs.command("cancel")))
    .description("cancel a run, even if another process executes it")
    .argument("<run-id>", RUN_ID)
    .option("--reason <text>", "why")
    .action(async (runId: string, o: Parameters<typeof Runs.runsCancelCommand>[1]) =>
      done(await (await runsCommands()).runsCancelCommand(runId, o, terminal)),
    );
  withStore(common(runs.command("fork")))
    .description("create a new run with the finished work of a run, and print its id")
    .argument("<run-id>", RUN_ID)
    .option("--from <task>", "omit this task and all later work")
    .option("--run-id <id>", "id of the new run (default: random)")
    .addHelpText("after", example("agentensemble runs fork complaint-17 --from write"))
    .action(async (runId: string, o: Parameters<typeof Runs.runsForkCommand>[1]) =>
      done(await (await runsCommands()).runsForkCommand(runId, o, terminal)),
    );
  withStore(common(runs.command("settle")))
    .description("settle a tool call whose result is unknown")
    .argument("<run-id>", RUN_ID)
    .argument("<key>", "key of the call, from `runs show`")
    .option("--result <text>", "result of the tool; @file reads the text of a file")
    .option("--again", "call the tool again when the run is resumed")
    .action(async (runId: string, key: string, o: Parameters<typeof Runs.runsSettleCommand>[2]) =>
      done(await (await runsCommands()).runsSettleCommand(runId, key, o, terminal)),
    );
  withStore(withFilter(common(runs.command("delete").alias("rm"))))
    .description("delete runs and all their data: by id, or all that match the options")
    .argument("[run-ids...]", "ids of stored runs")
    .addHelpText(
      "after",
      example(
        "agentensemble runs delete complaint-17",
        "agentensemble runs delete --older-than 30d",
        "agentensemble runs delete --tag person=ana",
      ),
    )
    .action(async (runIds: readonly string[], o: Runs.FilterArguments) =>
      done(await (await runsCommands()).runsDeleteCommand(runIds, o, terminal)),
    );
}

/** Adds the commands of reviews that runs wait for. */
export function addReviews(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const reviews = program
    .command("reviews")
    .description("list and answer the reviews of stored runs");
  withStore(common(reviews.command("list").alias("ls")))
    .description("list pending reviews, the oldest first")
    .action(async (o: Runs.RunsArguments) =>
      done(await (await reviewsCommands()).reviewsListCommand(o, terminal)),
    );
  withStore(common(reviews.command("answer")))
    .description("answer a review; the first answer counts")
    .argument("<review-id>", "id of a review, from `reviews list`")
    .argument("<decision>", "continue, edit (with --text) or exit (the run ends here)")
    .option("--text <text>", "replacement text; @file reads the text of a file")
    .option("--comment <text>", "why")
    .option("--by <name>", "name of the reviewer (default: the user of this system)")
    .addHelpText(
      "after",
      example(
        "agentensemble reviews list",
        "agentensemble reviews answer 3f2a continue --by ana",
        "agentensemble reviews answer 3f2a edit --text @better.txt --comment shorter",
      ),
    )
    .action(async (reviewId: string, decision: string, o: Reviews.AnswerArguments) =>
      done(await (await reviewsCommands()).reviewsAnswerCommand(reviewId, decision, o, terminal)),
    );
}
