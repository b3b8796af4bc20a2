import type { ChatProtocol } from "../../shared/chat-protocol.js";
import { SentSchemas } from "../sent-schemas.js";
import { readAnswer } from "./answer.js";
import { requestBody } from "./request-body.js";
import { StreamedResponse } from "./streamed-response.js";

/** OpenAI's Responses API. */
export function responses(): ChatProtocol {
  const schemas = new SentSchemas();
  return {
    path: "/responses",
    write: (request, target) => {
      const sent = schemas.of(request);
      return { body: requestBody(request, sent, target), nulls: sent.nulls };
    },
    read: readAnswer,
    readStream: () => new StreamedResponse(),
  };
}
