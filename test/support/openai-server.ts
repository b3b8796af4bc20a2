import { ModelServer, type ReplyFor, type Wire } from "./model-server.js";
import { answerDocument, answerEvents } from "./openai-wire.js";
import { responseDocument, responseEvents } from "./openai-responses-wire.js";

export type { RecordedRequest, Reply } from "./model-server.js";

/** Chat Completions of the loopback server. */
export const CHAT_WIRE: Wire = {
  basePath: "/v1",
  endMark: "[DONE]",
  document: answerDocument,
  events: (answer, request) => {
    const options = request.body["stream_options"] as
      { readonly include_usage?: boolean } | undefined; // as the client sent it
    return answerEvents(answer, { includeUsage: options?.include_usage === true });
  },
};

const RESPONSES_WIRE: Wire = {
  basePath: "/v1",
  document: responseDocument,
  events: responseEvents,
};

/** A stand-in for OpenAI's Chat Completions, or its Responses. */
export class OpenAIServer extends ModelServer {
  static async start(...replies: readonly ReplyFor[]): Promise<OpenAIServer> {
    const server = new OpenAIServer(CHAT_WIRE);
    await server.listen(replies);
    return server;
  }

  static async startResponses(...replies: readonly ReplyFor[]): Promise<OpenAIServer> {
    const server = new OpenAIServer(RESPONSES_WIRE);
    await server.listen(replies);
    return server;
  }
}
