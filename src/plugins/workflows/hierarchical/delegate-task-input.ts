import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { ManagerTemplateName } from "./hierarchical-prompts.js";
import { asText } from "../../../util/objects.js";

/** The arguments of the tool as the manager's model wrote them. */
export interface DelegateTaskInput {
  readonly agentRole: string;
  readonly taskDescription: string;
  /** A number, its digits, or something else that has no meaning; `undefined` where it was left out. */
  readonly taskNumber: unknown;
}

/** Takes any object: what is missing counts as blank, and the tool has its own words for that. */
function read(
  value: unknown,
):
  | { readonly value: DelegateTaskInput }
  | { readonly issues: readonly { readonly message: string }[] } {
  if (typeof value !== "object" || value === null)
    return { issues: [{ message: "expected a JSON object" }] };
  const { agentRole, taskDescription, taskNumber } = value as Readonly<Record<string, unknown>>; // looked at, not trusted
  const number = taskNumber === null || taskNumber === "" ? undefined : taskNumber; // how some models leave out what is optional
  return {
    value: {
      agentRole: asText(agentRole),
      taskDescription: asText(taskDescription),
      taskNumber: number,
    },
  };
}

/** What the manager's model is told about the arguments; the roles are offered as a closed list. */
export function delegateTaskInput(
  roles: readonly string[],
  count: number,
  texts: PromptTexts<ManagerTemplateName>,
): OutputSchema<DelegateTaskInput> {
  const jsonSchema: JsonSchema = {
    type: "object",
    properties: {
      agentRole: {
        type: "string",
        enum: roles,
        description: texts.render("manager.agentRole", {}),
      },
      taskDescription: { type: "string", description: texts.render("manager.taskDescription", {}) },
      taskNumber: {
        type: "integer",
        minimum: 1,
        maximum: count,
        description: texts.render("manager.taskNumber", {}),
      },
    },
    required: ["agentRole", "taskDescription"],
    additionalProperties: false,
  };
  return {
    schema: { "~standard": { version: 1, vendor: "agentensemble", validate: read } },
    jsonSchema,
  };
}
