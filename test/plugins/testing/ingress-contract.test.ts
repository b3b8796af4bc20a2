import type { IngressPort, IngressWork } from "agentensemble";
import type { IngressAnswer, IngressMessage, IngressUnderTest } from "agentensemble/testing";
import { RequestConflictError, ValidationError } from "agentensemble";
import { webhook } from "agentensemble/network";
import { ingressContract } from "agentensemble/testing";
import { expect } from "chai";
import { signedHeaders } from "../../../src/plugins/shared/webhooks/webhook-signature.js";
import { failuresOf, testsOf } from "./failures-of.js";

const SECRET = "a secret of the tests";

ingressContract("webhook()", {
  create: () => ({
    ingress: webhook({
      name: "orders",
      secret: SECRET,
      map: ({ text }) => ({ task: "pack", inputs: { text } }),
    }),
    send: async ({ id: deliveryId, text }, [route]) => {
      const body = JSON.stringify({ text });
      const headers = {
        "content-type": "application/json",
        ...signedHeaders({ deliveryId, body, at: new Date() }, SECRET),
      };
      const asked = new Request("http://localhost/", { method: "POST", headers, body });
      const answer = await route?.handle(asked, undefined, {});
      const status = answer?.status ?? 0;
      if (status === 202) return "accepted";
      if (status === 200) return "ignored";
      return status === 429 || status === 503 ? "later" : "refused";
    },
  }),
});

type Handle = (message: IngressMessage, port: IngressPort) => Promise<IngressAnswer>;

const work = ({ text }: IngressMessage): IngressWork => ({ task: "pack", inputs: { text } });

/** The correct handling of a message. */
const sound: Handle = async (message, port) => {
  try {
    const { status } = await port.submit(message.id, work(message));
    return status === "FULL" ? "later" : "accepted";
  } catch (error) {
    const isLasting = error instanceof ValidationError || error instanceof RequestConflictError;
    return isLasting ? "refused" : "later";
  }
};

/** An ingress of a message queue, as a consumer receives messages. */
function consumer(
  handle: Handle,
  { name = "consumer", goesOn = false }: { name?: string; goesOn?: boolean } = {},
): IngressUnderTest {
  let port: IngressPort | undefined;
  return {
    ingress: {
      name,
      open: (opened) => {
        port = opened;
        return () => void (port = goesOn ? opened : undefined);
      },
    },
    send: async (message) => (port === undefined ? "later" : handle(message, port)),
  };
}

let count = 0;
const FAULTS: Readonly<Record<string, () => IngressUnderTest>> = {
  "has a name, and routes or a way to open it": () => consumer(sound, { name: "a name" }),
  "submits the complete message with an id": () =>
    consumer((message, port) => sound({ ...message, text: message.text.toUpperCase() }, port)),
  "submits a repeated message with the same id and content": () =>
    consumer((message, port) => sound({ ...message, id: `${message.id}-${++count}` }, port)),
  "submits different messages with different ids, also with the same content": () =>
    consumer((message, port) => sound({ ...message, id: message.text }, port)),
  "asks the sender to repeat a message later if the message can't be accepted now": () =>
    consumer(async (message, port) => {
      const answer = await sound(message, port);
      return answer === "later" ? "refused" : answer;
    }),
  "refuses permanently a message that would always fail": () =>
    consumer(async (message, port) => {
      const answer = await sound(message, port);
      return answer === "refused" ? "later" : answer;
    }),
  "accepts messages after a refused message": () => {
    let isBroken = false;
    return consumer(async (message, port) => {
      const answer = isBroken ? "refused" : await sound(message, port);
      isBroken = answer === "refused";
      return answer;
    });
  },
  "accepts nothing after its end, and can be ended twice": () =>
    consumer(
      async (message, port) => {
        void sound(message, port); // acknowledges before the request is submitted
        return "accepted";
      },
      { goesOn: true },
    ),
};

describe("ingressContract", () => {
  const suite = (create: () => IngressUnderTest) => (): void =>
    ingressContract("planted", { create });

  it("passes a consumer of messages", async () => {
    expect(await failuresOf(suite(() => consumer(sound)))).to.deep.equal([]);
  });

  it("has a planted fault for each of its tests", () => {
    const titles = testsOf(suite(() => consumer(sound))).map(({ title }) => title);
    expect(titles).to.have.members(Object.keys(FAULTS));
  });

  for (const [title, fault] of Object.entries(FAULTS))
    it(`fails an ingress without this behaviour: ${title}`, async () => {
      expect(await failuresOf(suite(fault), title)).to.deep.equal([title]);
    });

  it("refuses unknown options", () => {
    const options = { create: () => consumer(sound), task: "pack" };
    expect(() => ingressContract("planted", options)).to.throw(ValidationError, /task/);
  });
});
