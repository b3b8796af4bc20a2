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

const RUN_ID = "the id of a run that is kept";

function withFilter(command: Command): Command {
  return command
    .option("--status <status>", "running, waiting, interrupted, completed, failed or cancelled")
    .option("--ensemble <name>", "the name of their ensemble")
    .option("--tag <name=value>", "a tag that they have, as often as needed", collect)
    .option("--older-than <age>", "unchanged for 12h, 7d, 2w")
    .option("--poisoned", "ended their process five times in a row and got no further");
}

/** Adds the commands of stored runs. */
export function addRuns(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const runs = program.command("runs").description("look after runs that are kept");
  addLists(runs, terminal, done);
  addResume(runs, terminal, done);
  addChanges(runs, terminal, done);
}

function addLists(runs: Command, terminal: OutputTerminal, done: CommandEnd): void {
  withStore(withFilter(common(runs.command("list").alias("ls"))))
    .description("list runs, the newest first")
    .option("--limit <count>", "how many at most (default: 50)")
    .option("--after <place>", "the next page, from the `next` of the page before")
    .addHelpText("after", example("agentensemble runs list --status waiting"))
    .action(async (o: Parameters<typeof Runs.runsListCommand>[0]) =>
      done(await (await runsCommands()).runsListCommand(o, terminal)),
    );
  withStore(common(runs.command("show")))
    .description("show a run: where it stands, what it used and saved, what it waits for")
    .argument("<run-id>", RUN_ID)
    .option("--entries", "also list the entries of its journal")
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
    .description("cancel a run, also one that another process executes")
    .argument("<run-id>", RUN_ID)
    .option("--reason <text>", "why")
    .action(async (runId: string, o: Parameters<typeof Runs.runsCancelCommand>[1]) =>
      done(await (await runsCommands()).runsCancelCommand(runId, o, terminal)),
    );
  withStore(common(runs.command("fork")))
    .description("make a new run with what this one has done; prints its id")
    .argument("<run-id>", RUN_ID)
    .option("--from <task>", "leave out this task and all that was done after it")
    .option("--run-id <id>", "the id of the new run (default: a random one)")
    .addHelpText("after", example("agentensemble runs fork complaint-17 --from write"))
    .action(async (runId: string, o: Parameters<typeof Runs.runsForkCommand>[1]) =>
      done(await (await runsCommands()).runsForkCommand(runId, o, terminal)),
    );
  withStore(common(runs.command("settle")))
    .description("end the doubt about a tool call whose end is unknown")
    .argument("<run-id>", RUN_ID)
    .argument("<key>", "the key of the call, from `runs show`")
    .option("--result <text>", "what the tool returned; @file takes the text of a file")
    .option("--again", "let the tool be called again")
    .action(async (runId: string, key: string, o: Parameters<typeof Runs.runsSettleCommand>[2]) =>
      done(await (await runsCommands()).runsSettleCommand(runId, key, o, terminal)),
    );
  withStore(withFilter(common(runs.command("delete").alias("rm"))))
    .description("delete runs with all that is kept of them: by id, or all that fit")
    .argument("[run-ids...]", "ids of runs that are kept")
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
  const reviews = program.command("reviews").description("answer what kept runs ask people");
  withStore(common(reviews.command("list").alias("ls")))
    .description("list the reviews that wait, the oldest first")
    .action(async (o: Runs.RunsArguments) =>
      done(await (await reviewsCommands()).reviewsListCommand(o, terminal)),
    );
  withStore(common(reviews.command("answer")))
    .description("answer a review; the first answer counts")
    .argument("<review-id>", "the id of a review, from `reviews list`")
    .argument("<decision>", "continue, edit (with --text) or exit (the run ends here)")
    .option("--text <text>", "what to use instead; @file takes the text of a file")
    .option("--comment <text>", "why")
    .option("--by <name>", "who decides (default: the user of this system)")
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
