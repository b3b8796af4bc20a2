import { expect } from "chai";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import { OpenAIServer } from "../../../support/openai-server.js";

const KEY = Symbol.for("undici.globalDispatcher.1");
const REQUEST = { messages: [{ role: "user", content: "Hi" }] } as const;

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

describe("the limits of the platform's fetch", () => {
  let server: OpenAIServer;
  const platform = globalThis as unknown as Record<symbol, Dispatcher | undefined>;

  beforeEach(async () => (server = await OpenAIServer.start()));
  afterEach(() => server.close());

  /** Returns the limits with which the platform sends a request. */
  async function limitsOf(idleTimeoutMs?: number, ownFetch?: typeof fetch): Promise<unknown> {
    await fetch(server.url); // loads the platform's fetch
    const original = platform[KEY];
    let sent: unknown;
    platform[KEY] = {
      dispatch: (options, handler) => {
        const { headersTimeout, bodyTimeout } = options as Readonly<Record<string, unknown>>;
        sent = [headersTimeout, bodyTimeout];
        return original?.dispatch(options, handler) ?? false;
      },
    };
    try {
      server.reply({ kind: "answer", text: "Hello" });
      const options = { apiKey: "k", baseURL: server.url, idleTimeoutMs, fetch: ownFetch };
      const { message } = await openai("m", options).chat(REQUEST);
      expect(message.content).to.equal("Hello");
      return sent;
    } finally {
      platform[KEY] = original;
    }
  }

  it("do not apply if idleTimeoutMs allows longer pauses", async () => {
    expect(await limitsOf(800_000)).to.deep.equal([0, 0]);
  });

  it("apply to shorter pauses, and to a fetch of the user", async () => {
    expect(await limitsOf()).to.deep.equal([undefined, undefined]);
    const own: typeof fetch = (input, init) => fetch(input, init);
    expect(await limitsOf(800_000, own)).to.deep.equal([undefined, undefined]);
  });
});
