import type { Command } from "commander";
import type { CommandEnd } from "./command-parts.js";
import type { OutputTerminal } from "./terminal.js";
import { collect, common, example, EXIT_CODES } from "./command-parts.js";
import { evalCommand, type EvalArguments } from "./eval-command.js";

/** Adds the command `eval`. */
export function addEval(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(
    program
      .command("eval")
      .description("evaluate a team: scores, intervals, and a comparison with a baseline"),
  )
    .option("--baseline <file.json>", "compare with this result of the same dataset")
    .option("--allow-dataset-change", "compare unchanged cases with a baseline of another dataset")
    .option(
      "--fail-under <scorer=mean>",
      "exit code 1 if the mean of a scorer is lower; repeatable",
      collect,
    )
    .option("--fail-on-regression", "exit code 1 if the result is worse than the baseline")
    .option("--trials <n>", "number of trials of each case")
    .option("--concurrency <n>", "number of concurrent trials")
    .option("--seed <n>", "seed of all random numbers")
    .option("--case <id>", "only this case; repeatable", collect)
    .option("--tag <tag>", "only cases with this tag; repeatable", collect)
    .option("--sample <n>", "only n cases, selected by the seed")
    .option("--max-cost <amount>", "limit of the complete evaluation")
    .option("--max-tokens <n>", "limit of the complete evaluation")
    .option("--traces <folder>", "write the trace of each trial")
    .option("--out <file.json>", "write the result, for --baseline")
    .option("--junit <file.xml>", "write JUnit XML, for CI")
    .option("--markdown <file.md>", "write Markdown, for a pull request")
    .option("--html <file.html>", "write an HTML page with all cases")
    .option("-q, --quiet", "show no progress")
    .argument("<file>", "JavaScript or TypeScript that default-exports defineEvaluation({...})")
    .addHelpText(
      "after",
      example(
        "agentensemble eval rivers.eval.ts --out result.json --html report.html",
        "agentensemble eval rivers.eval.ts --baseline main.json --fail-on-regression --fail-under exact=0.9",
      ) + EXIT_CODES,
    )
    .action(async (file: string, o: EvalArguments) => done(await evalCommand(file, o, terminal)));
}
