import { ANTHROPIC_WIRE } from "./anthropic-wire.js";
import { ModelServer, type ReplyFor } from "./model-server.js";

/** A stand-in for Anthropic's Messages API. */
export class AnthropicServer extends ModelServer {
  static async start(...replies: readonly ReplyFor[]): Promise<AnthropicServer> {
    const server = new AnthropicServer(ANTHROPIC_WIRE);
    await server.listen(replies);
    return server;
  }
}
