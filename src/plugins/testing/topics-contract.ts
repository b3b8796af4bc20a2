import assert from "node:assert/strict";
import type { Topics } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions } from "../../contracts/validation.js";
import { asData, endsSoon, delay } from "./request-queue-scenario.js";

/** Topics for a test of `topicsContract`. */
export interface TopicsUnderTest {
  /** Used by no other test. */
  readonly topics: Topics;
  /** Another client, as in another process. The suite closes it. */
  readonly another?: (() => Awaitable<Topics>) | undefined;
  /** Closes everything, and removes data on servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `topicsContract`. */
export interface TopicsContractOptions {
  /** Called once per test. */
  create(): Awaitable<TopicsUnderTest>;
}

type UseTopics = (
  body: (scenario: { readonly topics: Topics; readonly other: Topics }) => Promise<void>,
) => Promise<void>;

/**
 * Publishes until the message has arrived, because the delivery of one message is not guaranteed.
 */
async function published(topics: Topics, topic: string, message: unknown, seen: unknown[]) {
  for (let tries = 0; seen.length === 0 && tries < 50; tries++) {
    await topics.publish(topic, message);
    await delay(tries === 0 ? 0 : 50);
  }
  assert.ok(seen.length > 0, "no message came");
}

function topicsSuite(use: UseTopics): void {
  it("delivers a message to each subscriber of its topic, in each client", () =>
    use(async ({ topics, other }) => {
      const first: unknown[] = [];
      const second: unknown[] = [];
      const elsewhere: unknown[] = [];
      await topics.subscribe("news", (message) => void first.push(message));
      await other.subscribe("news", (message) => void second.push(message));
      await other.subscribe("new", (message) => void elsewhere.push(message));
      const message = { text: "\u2028 \u{1F980}", list: [1, null, { a: true }] };
      await published(topics, "news", message, second);
      await published(topics, "news", message, first);
      assert.deepEqual(asData(first[0]), message);
      assert.deepEqual(asData(second[0]), message);
      assert.deepEqual(elsewhere, []);
    }));
  it("delivers nothing to an unsubscribed listener, and delivers to the next after one that fails", () =>
    use(async ({ topics, other }) => {
      const left: unknown[] = [];
      const stayed: unknown[] = [];
      const leave = await other.subscribe("news", (message) => void left.push(message));
      await other.subscribe("news", () => {
        throw new Error("a subscriber that fails on purpose");
      });
      await other.subscribe("news", (message) => void stayed.push(message));
      leave();
      leave();
      await published(topics, "news", "text", stayed);
      assert.deepEqual([left, stayed[0]], [[], "text"]);
    }));
  it("accepts names and values of all kinds", () =>
    use(async ({ topics, other }) => {
      const names = ["a.b", "cancel.größer \u{1F980}", "__proto__", "x".repeat(200), "a*b>c?d"];
      for (const [n, name] of names.entries()) {
        const seen: unknown[] = [];
        await other.subscribe(name, (message) => void seen.push(message));
        await published(topics, name, n, seen);
        assert.equal(seen[0], n, name);
      }
    }));
  it("publishes to a topic without subscribers", () =>
    use(({ topics }) => endsSoon(topics.publish("unheard", { a: 1 }))));
  it("refuses messages above 4 KiB and messages without a JSON form", () =>
    use(async ({ topics }) => {
      await topics.publish("news", "x".repeat(4_000));
      for (const message of ["x".repeat(4_096), "é".repeat(2_100), 1n])
        await assert.rejects(
          async () => topics.publish("news", message),
          (error) => ValidationError.isInstance(error),
        );
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that all topics should pass.
 *
 * @example
 * topicsContract("mine", { create: async () => ({ topics: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function topicsContract(name: string, options: TopicsContractOptions): void {
  checkOptions("topicsContract()", options, ["create"]);
  const use: UseTopics = async (body) => {
    const subject = await options.create();
    let other: Topics | undefined;
    try {
      other = await subject.another?.();
      await body({ topics: subject.topics, other: other ?? subject.topics });
    } finally {
      if (other !== subject.topics) await other?.close?.();
      await subject.topics.close?.();
      await subject.dispose?.();
    }
  };
  describe(`topics contract: ${name}`, () => topicsSuite(use));
}
