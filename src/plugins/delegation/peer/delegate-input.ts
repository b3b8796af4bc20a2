import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { asText } from "../../../util/objects.js";

/** The arguments of the tool from the model. */
export interface DelegateInput {
  readonly agentRole: string;
  readonly taskDescription: string;
}

/**
 * Accepts any object. A missing argument counts as blank. The tool has a separate text for blank
 * arguments.
 */
function read(
  value: unknown,
):
  { readonly value: DelegateInput } | { readonly issues: readonly { readonly message: string }[] } {
  if (typeof value !== "object" || value === null)
    return { issues: [{ message: "expected a JSON object" }] };
  // Each field is checked.
  const { agentRole, taskDescription } = value as Readonly<Record<string, unknown>>;
  return { value: { agentRole: asText(agentRole), taskDescription: asText(taskDescription) } };
}

/** Returns the schema of the arguments for the model. Known roles are an enumeration. */
export function delegateInput(
  roles: readonly string[],
  descriptions: { readonly agentRole: string; readonly taskDescription: string },
): OutputSchema<DelegateInput> {
  const offered = roles.length === 0 ? {} : { enum: roles };
  const jsonSchema: JsonSchema = {
    type: "object",
    properties: {
      agentRole: { type: "string", ...offered, description: descriptions.agentRole },
      taskDescription: { type: "string", description: descriptions.taskDescription },
    },
    required: ["agentRole", "taskDescription"],
    additionalProperties: false,
  };
  return {
    schema: { "~standard": { version: 1, vendor: "agentensemble", validate: read } },
    jsonSchema,
  };
}
