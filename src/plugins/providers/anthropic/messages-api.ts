import type { JsonSchema } from "../../../contracts/types.js";
import type { ChatProtocol } from "../shared/chat-protocol.js";
import { NullRemover } from "../shared/strict-nulls.js";
import { StrictSchemas } from "../shared/strict-schema.js";
import { readAnswer } from "./answer.js";
import type { ResolvedAnthropicOptions } from "./anthropic-options.js";
import { requestBody } from "./request-body.js";
import { ANTHROPIC_DIALECT, hasStructuredOutput } from "./strict-dialect.js";
import { StreamedMessage } from "./streamed-message.js";

/** Whether requests to this model may contain schemas. */
export function takesSchemas(
  modelId: string,
  options: Pick<ResolvedAnthropicOptions, "structuredOutput">,
): boolean {
  return options.structuredOutput ?? hasStructuredOutput(modelId);
}

/** Anthropic's Messages API. */
export function messagesApi(options: ResolvedAnthropicOptions): ChatProtocol {
  const strict = new StrictSchemas(ANTHROPIC_DIALECT);
  // Optional properties stay optional for this vendor, so no nulls need to be removed.
  const nulls = new NullRemover({ text: undefined, tools: new Map<string, JsonSchema>() });
  return {
    path: "/v1/messages",
    write: (request, target) => ({
      body: requestBody(request, target, {
        options,
        strict,
        structuredOutput: takesSchemas(target.modelId, options),
      }),
      nulls,
    }),
    read: readAnswer,
    readStream: () => new StreamedMessage(),
  };
}
