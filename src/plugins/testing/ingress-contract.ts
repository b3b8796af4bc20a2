import assert from "node:assert/strict";
import type { HttpRoute } from "../../contracts/http-route.js";
import type { Ingress, IngressPort, IngressWork } from "../../contracts/ingress.js";
import type { EnqueueReceipt } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  NetworkError,
  RequestConflictError,
  ServiceStateError,
} from "../../contracts/network-errors.js";
import { checkOptions } from "../../contracts/validation.js";
import { systemClock } from "../../util/runtime.js";

/** A message that the suite sends. `text` must be in the request: in its context or its inputs. */
export interface IngressMessage {
  readonly id: string;
  readonly text: string;
}

/**
 * The result for the sender of a message: accepted, not needed, to be repeated later, or refused
 * permanently.
 */
export type IngressAnswer = "accepted" | "ignored" | "later" | "refused";

/** An ingress for a test of `ingressContract`. */
export interface IngressUnderTest {
  /** Used by no other test. */
  readonly ingress: Ingress;
  /** Sends a message like a sender. `routes` are the routes of the ingress. */
  send(message: IngressMessage, routes: readonly HttpRoute[]): Promise<IngressAnswer>;
  /** Closes the resources of `create`. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `ingressContract`. */
export interface IngressContractOptions {
  /** Called once per test. */
  create(): Awaitable<IngressUnderTest>;
}

interface Submitted {
  readonly requestId: string;
  readonly work: IngressWork;
}

interface IngressScenario {
  readonly submitted: readonly Submitted[];
  send(message: IngressMessage): Promise<IngressAnswer>;
  /** Sets the result of later `submit` calls. */
  answer(with_: () => EnqueueReceipt): void;
  /** Ends the ingress, as a service does when it stops. */
  end(): Promise<void>;
}

type UseIngress = (body: (scenario: IngressScenario) => Promise<void>) => Promise<void>;

const ACCEPTED = (): EnqueueReceipt => ({ status: "ACCEPTED" });

function messagesSuite(create: IngressContractOptions["create"], use: UseIngress): void {
  it("has a name, and routes or a way to open it", async () => {
    const { ingress, dispose } = await create();
    await dispose?.();
    assert.match(ingress.name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.ok(ingress.routes !== undefined || ingress.open !== undefined);
  });
  it("submits the complete message with an id", () =>
    use(async ({ send, submitted }) => {
      const text = 'größer \u{1F980} "quoted" \\ __proto__';
      assert.equal(await send({ id: "message-1", text }), "accepted");
      assert.equal(submitted.length, 1);
      const [first] = submitted;
      assert.ok(first !== undefined && first.requestId.length > 0);
      assert.ok(first.requestId.length <= 200, "the id is longer than 200 characters");
      assert.ok(textsIn(first.work).includes(text), "the text is not in the request");
    }));
  it("submits a repeated message with the same id and content", () =>
    use(async ({ send, submitted, answer }) => {
      const message = { id: "message-1", text: "again" };
      await send(message);
      answer(() => ({ status: "DUPLICATE" }));
      assert.equal(await send(message), "accepted");
      assert.ok(submitted.length >= 1);
      for (const each of submitted) assert.deepEqual(each, submitted[0]);
    }));
  it("submits different messages with different ids, also with the same content", () =>
    use(async ({ send, submitted }) => {
      const ids = ["1", "2", "__proto__", "a/b?c#d", "x".repeat(200)];
      for (const id of ids) assert.equal(await send({ id, text: "same" }), "accepted");
      assert.equal(new Set(submitted.map(({ requestId }) => requestId)).size, ids.length);
    }));
}

function refusalsSuite(use: UseIngress): void {
  it("asks the sender to repeat a message later if the message can't be accepted now", () =>
    use(async ({ send, answer }) => {
      const failing = (error: Error) => (): never => {
        throw error;
      };
      const answers = [
        (): EnqueueReceipt => ({ status: "FULL" }),
        failing(new ServiceStateError("draining on purpose")),
        failing(new NetworkError("away on purpose")),
      ];
      for (const [n, each] of answers.entries()) {
        const message = { id: `message-${n}`, text: "later" };
        answer(each);
        assert.equal(await send(message), "later", String(each));
        answer(ACCEPTED);
        assert.equal(await send(message), "accepted", "the repetition");
      }
    }));
  it("refuses permanently a message that would always fail", () =>
    use(async ({ send, answer }) => {
      const errors = [new RequestConflictError("message-1"), new ValidationError("on purpose")];
      for (const error of errors) {
        answer(() => {
          throw error;
        });
        assert.equal(await send({ id: "message-1", text: "x" }), "refused", error.message);
      }
    }));
  it("accepts messages after a refused message", () =>
    use(async ({ send, answer, submitted }) => {
      answer(() => {
        throw new ValidationError("on purpose");
      });
      await send({ id: "message-1", text: "wrong" });
      answer(ACCEPTED);
      assert.equal(await send({ id: "message-2", text: "right" }), "accepted");
      assert.ok(textsIn(submitted.at(-1)?.work).includes("right"));
    }));
  it("accepts nothing after its end, and can be ended twice", () =>
    use(async ({ send, submitted, end }) => {
      await send({ id: "message-1", text: "before" });
      const before = submitted.length;
      await end();
      await end();
      const answer = await send({ id: "message-2", text: "after" }).catch(() => "later");
      assert.notEqual(answer, "accepted");
      assert.equal(submitted.length, before);
    }));
}

/** Returns the texts in the content of a request. */
function textsIn(work: IngressWork | undefined): readonly string[] {
  const texts: string[] = [];
  JSON.stringify([work?.context, work?.inputs], (_key, value: unknown) => {
    if (typeof value === "string") texts.push(value);
    return value;
  });
  return texts;
}

/** A service that accepts no requests after its end. */
class RecordingPort implements IngressPort {
  readonly ensemble = "kitchen";
  readonly clock = systemClock;
  readonly maxMessageBytes = 1_048_576;
  readonly submitted: Submitted[] = [];
  answer = ACCEPTED;
  hasEnded = false;

  async submit(requestId: string, work: IngressWork): Promise<EnqueueReceipt> {
    if (this.hasEnded) throw new ServiceStateError("The service has stopped");
    const receipt = this.answer();
    if (receipt.status !== "FULL")
      // the form in which a storage keeps it
      this.submitted.push({ requestId, work: JSON.parse(JSON.stringify(work)) as IngressWork });
    return receipt;
  }

  warn(): void {
    // The suite checks the response to the sender.
  }
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every ingress should pass.
 *
 * @example
 * ingressContract("mine", {
 *   create: async () => ({ ingress: mine(), send: (message) => sendTo(message) }),
 * });
 * @throws ValidationError for an unknown option.
 */
export function ingressContract(name: string, options: IngressContractOptions): void {
  checkOptions("ingressContract()", options, ["create"]);
  const create = (): Awaitable<IngressUnderTest> => options.create();
  const use: UseIngress = async (body) => {
    const subject = await create();
    const { ingress } = subject;
    const port = new RecordingPort();
    const routes = ingress.routes?.(port) ?? [];
    const close = await ingress.open?.(port);
    const end = async (): Promise<void> => {
      port.hasEnded = true;
      await close?.();
    };
    try {
      await body({
        submitted: port.submitted,
        send: (message) => subject.send(message, routes),
        answer: (next) => void (port.answer = next),
        end,
      });
    } finally {
      await end();
      await subject.dispose?.();
    }
  };
  describe(`ingress contract: ${name}`, () => {
    messagesSuite(create, use);
    refusalsSuite(use);
  });
}
