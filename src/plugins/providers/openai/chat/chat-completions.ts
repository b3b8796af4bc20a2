import type { ChatProtocol } from "../../shared/chat-protocol.js";
import { SentSchemas } from "../sent-schemas.js";
import { readAnswer } from "./answer.js";
import { requestBody } from "./request-body.js";
import { StreamedCompletion } from "./streamed-completion.js";

/** OpenAI's Chat Completions. Most other servers also support this API. */
export function chatCompletions(): ChatProtocol {
  const schemas = new SentSchemas();
  return {
    path: "/chat/completions",
    write: (request, target) => {
      const sent = schemas.of(request);
      return { body: requestBody(request, sent, target), nulls: sent.nulls };
    },
    read: readAnswer,
    readStream: () => new StreamedCompletion(),
  };
}
