import type { Command } from "commander";

export const FILE =
  "JavaScript or TypeScript that default-exports an Ensemble, or a function that returns one";
export const EXIT_CODES = `
Exit codes:
  0    done (a run that a reviewer ended early included)
  1    the run failed; of "trace diff": the runs differ; of "eval": --fail-under or --fail-on-regression
  2    wrong arguments, a file that can't be used, an ensemble that can't be run
  3    of "eval": trials or scores failed, or the budget ended it
  75   the run waits for people: answer, then run it again
  124  the run did not end within its time limit
  130  the run was cancelled
`;

/** Receives the exit code of the executed command. */
export type CommandEnd = (code: number) => void;

export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join("")}`;
}

/** Adds the options of every command. */
export function common(command: Command): Command {
  return command
    .option("--json", "print one JSON document")
    .option("--verbose", "show where errors come from");
}

export function withInputs(command: Command): Command {
  return command
    .option(
      "--input <name=value>",
      "a value for {name} in the tasks, as often as needed; name=@file takes a file's text",
      collect,
    )
    .option("--inputs <file.json>", "values from a JSON object; --input comes before it");
}

/** Adds the options of all commands that execute a run. */
export function withExecution(command: Command): Command {
  return command
    .option("--capture <mode>", "how much the trace keeps: NONE, OFF, STANDARD or FULL")
    .option("--timeout <duration>", "cancel after 500ms, 30s, 5m, 1h")
    .option("--trace <file.json>", "write the trace, also of a run that fails")
    .option(
      "--review <where>",
      'who answers reviews: "console" (default at a terminal) asks here, "none" asks no one',
    )
    .option("-q, --quiet", "no progress; warnings and errors are printed all the same");
}

/** Adds the common options of `run` and `runs resume`. */
export function withKeeping(command: Command): Command {
  return withStore(command)
    .option("--wait", "wait for people in this process, instead of ending with exit code 75")
    .option(
      "--on-change <what>",
      'where the program differs from what is kept: "fail" (default), "keep" it, or "redo" the task',
    );
}

export function withStore(command: Command): Command {
  return command.option(
    "--store <url>",
    "where runs are kept: file:<folder>, pglite:<folder> or postgres://... (default: AGENTENSEMBLE_STORE, else file:./.agentensemble)",
  );
}
