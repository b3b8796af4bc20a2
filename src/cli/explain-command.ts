import type { KernelDescription } from "../contracts/plugin.js";
import type { ExplainedTask, Explanation } from "../contracts/ensemble-options.js";
import type { Paint } from "../plugins/observability/console/terminal-text.js";
import type { OutputTerminal } from "./terminal.js";

import { inputsOf } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";
import { inputLines } from "./input-form.js";
import { accessOf, endEnsemble, formedFor, loadEnsemble } from "./load-ensemble.js";
import { toJsonValue } from "../util/json/to-json-value.js";
import { printableLine, printableText } from "../util/printable.js";
import { counted } from "../util/text.js";

function indented(title: string, text: string): readonly string[] {
  if (text === "") return [];
  return [
    `  ${title}`,
    ...printableText(text)
      .split("\n")
      .map((line) => `    ${line}`.trimEnd()),
  ];
}

function explainedLines(task: ExplainedTask, paint: Paint): readonly string[] {
  const role = printableLine(task.agentRole);
  const calls = counted(task.maxModelCalls, "model call");
  const about =
    task.model === ""
      ? "calls no model"
      : `${printableLine(task.model)}, about ${task.estimatedInputTokens} input tokens in the first call, at most ${calls}`;
  return [
    paint("bold", `${printableLine(task.taskId)} ${role.startsWith("(") ? role : `(${role})`}`),
    `  ${printableText(task.description).replaceAll("\n", "\n  ")}`,
    `  ${about}`,
    ...(task.dependsOn.length > 0 ? [`  after: ${printableLine(task.dependsOn.join(", "))}`] : []),
    ...(task.tools.length > 0 ? [`  tools: ${printableLine(task.tools.join(", "))}`] : []),
    ...(task.synthesizedByModel
      ? ["  A model creates its agent, so its prompt is not known yet."]
      : []),
    ...indented(paint("dim", "system prompt:"), task.systemPrompt),
    ...indented(paint("dim", "user prompt:"), task.userPrompt),
    "",
  ];
}

/** Formats an explanation for people. */
function explanationText(explanation: Explanation, paint: Paint): string {
  const { workflow, inputs, tasks, estimatedInputTokens, costBound, unbounded } = explanation;
  return [
    paint("bold", `${printableLine(workflow)}, ${counted(tasks.length, "task")}`),
    ...(inputs === undefined ? [] : ["Inputs:", ...inputLines(inputs).map((line) => `  ${line}`)]),
    "",
    ...tasks.flatMap((task) => explainedLines(task, paint)),
    `First calls: about ${estimatedInputTokens} input tokens in all.`,
    ...(costBound === undefined
      ? []
      : [`A run costs at most ${costBound.totalCost} ${costBound.currency}.`]),
    ...unbounded.map((reason) => `No upper bound of the cost: ${printableLine(reason)}`),
  ].join("\n");
}

/** Formats the plugins, the source of each binding, and the taps of each lane of a hook. */
function pluginsText({ plugins, tokens, hooks }: KernelDescription, paint: Paint): string {
  const list = (names: readonly string[]): string => printableLine(names.join(", "), 1_000);
  return [
    paint("bold", "Plugins"),
    ...plugins.map((name) => `  ${printableLine(name)}`),
    "",
    paint("bold", "Tokens, and who binds them"),
    ...tokens.map(({ token, boundBy }) => `  ${printableLine(token)}: ${list(boundBy)}`),
    "",
    paint("bold", "Hooks by lane, with their taps in order"),
    ...hooks.map(({ hook, lane, taps }) => `  ${hook} ${lane}: ${list(taps)}`),
  ].join("\n");
}

/** `agentensemble explain <file>`: shows the prompts without sending them. */
export async function explainCommand(
  file: string,
  o: {
    readonly input?: readonly string[];
    readonly inputs?: string;
    readonly json?: boolean;
    readonly plugins?: boolean;
  },
  terminal: OutputTerminal,
): Promise<number> {
  const inputs = await inputsOf(o);
  terminal.keepOutputForResults();
  const ensemble = await loadEnsemble(file);
  try {
    if (o.plugins === true) {
      const description = await accessOf(ensemble).describe();
      await (o.json === true
        ? terminal.json(description)
        : terminal.text(pluginsText(description, terminal.paint)));
      return ExitCode.OK;
    }
    const explanation = await ensemble.explain(formedFor(ensemble, inputs, o));
    await (o.json === true
      ? terminal.json(toJsonValue(explanation))
      : terminal.text(explanationText(explanation, terminal.paint)));
  } finally {
    await endEnsemble(ensemble);
  }
  return ExitCode.OK;
}
