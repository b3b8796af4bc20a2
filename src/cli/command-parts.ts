import type { Command } from "commander";

export const FILE =
  "JavaScript or TypeScript that default-exports an Ensemble, or a function that returns one";
export const EXIT_CODES = `
Exit codes:
  0    success, including a run that a reviewer ended early
  1    the run failed; "trace diff": the runs differ; "eval": --fail-under or --fail-on-regression
  2    invalid arguments, an unusable file, or an ensemble that can't run
  3    "eval": trials or scores failed, or the budget ended the evaluation
  75   the run waits for a review: answer it, then resume the run
  124  the run exceeded its time limit
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
    .option("--verbose", "show the stack traces of errors");
}

export function withInputs(command: Command): Command {
  return command
    .option(
      "--input <name=value>",
      "value of {name} in the tasks; repeatable; name=@file reads the text of a file",
      collect,
    )
    .option("--inputs <file.json>", "values from a JSON object; --input takes precedence");
}

/** Adds the options of all commands that execute a run. */
export function withExecution(command: Command): Command {
  return command
    .option("--capture <mode>", "content of the trace: NONE, OFF, STANDARD or FULL")
    .option(
      "--timeout <duration>",
      "cancel the run after this time, for example 500ms, 30s, 5m, 1h",
    )
    .option("--trace <file.json>", "write the trace, even if the run fails")
    .option(
      "--review <where>",
      'where reviews are answered: "console" (default in a terminal) or "none"',
    )
    .option("-q, --quiet", "show no progress, only warnings and errors");
}

/** Adds the common options of `run` and `runs resume`. */
export function withKeeping(command: Command): Command {
  return withStore(command)
    .option("--wait", "wait for reviews in this process instead of ending with exit code 75")
    .option(
      "--on-change <what>",
      'if the program differs from the stored run: "fail" (default), "keep" the stored output, or "redo" the task',
    );
}

export function withStore(command: Command): Command {
  return command.option(
    "--store <url>",
    "store of runs: file:<folder>, pglite:<folder> or postgres://... (default: AGENTENSEMBLE_STORE, else file:./.agentensemble)",
  );
}
