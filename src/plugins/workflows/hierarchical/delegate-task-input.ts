import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { ManagerTemplateName } from "./hierarchical-prompts.js";
import { asText } from "../../../util/objects.js";

/** The arguments of the tool as the manager's model wrote them. */
export interface DelegateTaskInput {
  readonly agentRole: string;
  readonly taskDescription: string;
  /** A number, its digits, or an invalid value. `undefined` if omitted. */
  readonly taskNumber: unknown;
}

/** Accepts any object. A missing value counts as blank, which the tool reports itself. */
function read(
  value: unknown,
):
  | { readonly value: DelegateTaskInput }
  | { readonly issues: readonly { readonly message: string }[] } {
  if (typeof value !== "object" || value === null)
    return { issues: [{ message: "expected a JSON object" }] };
  // each value is validated later
  const { agentRole, taskDescription, taskNumber } = value as Readonly<Record<string, unknown>>;
  // values that some models send for an omitted optional argument
  const number = taskNumber === null || taskNumber === "" ? undefined : taskNumber;
  return {
    value: {
      agentRole: asText(agentRole),
      taskDescription: asText(taskDescription),
      taskNumber: number,
    },
  };
}

/** Returns the schema for the manager's model. The roles are a closed list. */
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
