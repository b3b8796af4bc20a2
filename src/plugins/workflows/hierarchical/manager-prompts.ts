import type { Agent } from "../../../contracts/agent.js";
import type { ManagerPromptStrategy } from "../../../contracts/delegation.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { ManagerTemplateName } from "./hierarchical-prompts.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

type ManagerTexts = PromptTexts<ManagerTemplateName>;

/** The manager's prompts about its team and its work. */
export interface ManagerPrompts {
  /** Absent if the user's strategy returns no text. */
  readonly system: string | undefined;
  readonly user: string;
}

/**
 * Returns the prompts of the user's strategy, or those of the templates.
 * @throws ValidationError if a strategy does not return a text
 */
export function managerPrompts(
  strategy: ManagerPromptStrategy | undefined,
  agents: readonly Agent[],
  tasks: readonly AnyTask[],
  texts: ManagerTexts,
): ManagerPrompts {
  const { buildSystemPrompt, buildUserPrompt } =
    strategy === undefined ? byTemplates(texts) : bound(strategy);
  const system = requireInstructions("buildSystemPrompt", buildSystemPrompt({ agents }));
  const user = requireInstructions("buildUserPrompt", buildUserPrompt({ tasks }));
  return {
    system: system.trim() === "" ? undefined : system,
    user: user.trim() === "" ? texts.render("manager.withoutPrompt", {}) : user,
  };
}

function byTemplates(texts: ManagerTexts): ManagerPromptStrategy {
  return {
    buildSystemPrompt: ({ agents }) =>
      texts.render("manager.system", {
        workers: agents.map((agent, index) => workerText(agent, index + 1, texts)).join(""),
      }),
    buildUserPrompt: ({ tasks }) => {
      const listed = tasks.map(({ description, expectedOutput }, index) =>
        texts.render("manager.task", { number: index + 1, description, expectedOutput }),
      );
      return texts.render("manager.user", { tasks: listed.join("") });
    },
  };
}

function workerText(
  { role, goal, background = "" }: Agent,
  number: number,
  texts: ManagerTexts,
): string {
  const shown =
    background.trim() === "" ? "" : texts.render("manager.workerBackground", { background });
  return texts.render("manager.worker", { number, role, goal, background: shown });
}

/**
 * Returns the strategy with bound methods. It may be an instance of a class, so its methods need
 * `this`.
 */
function bound(strategy: ManagerPromptStrategy): ManagerPromptStrategy {
  return {
    buildSystemPrompt: (ctx) => strategy.buildSystemPrompt(ctx),
    buildUserPrompt: (ctx) => strategy.buildUserPrompt(ctx),
  };
}

/** Returns the text of a strategy. Null and `undefined` become an empty text. */
function requireInstructions(method: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  throw new ValidationError(
    `managerPromptStrategy.${method}() must return a string, got: ${preview(value)}`,
  );
}
