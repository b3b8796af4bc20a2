import { expect } from "chai";
import type { ChatModel } from "../../../src/contracts/chat-model.js";
import { ValidationError } from "../../../src/contracts/errors.js";
import {
  chatModelContract,
  type ChatModelContractOptions,
} from "../../../src/plugins/testing/index.js";

interface CollectedTest {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/**
 * Registers the suite with a custom `describe` and `it`: its tests can be run against models that
 * must fail.
 */
function collectTests(options: ChatModelContractOptions): readonly CollectedTest[] {
  const tests: CollectedTest[] = [];
  const { describe: mochaDescribe, it: mochaIt } = globalThis;
  const replaced = {
    describe: (_name: string, body: () => void) => body(),
    it: (name: string, run: () => Promise<unknown>) => void tests.push({ name, run }),
  };
  Object.assign(globalThis, replaced);
  try {
    chatModelContract("collected", options);
  } finally {
    Object.assign(globalThis, { describe: mochaDescribe, it: mochaIt });
  }
  return tests;
}

async function passing(tests: readonly CollectedTest[]): Promise<readonly string[]> {
  const passed: string[] = [];
  for (const test of tests) {
    await test.run().then(
      () => passed.push(test.name),
      () => undefined,
    );
  }
  return passed;
}

/** Returns the same answer to every request. */
const stubborn: ChatModel = {
  provider: "stubborn",
  modelId: "stubborn",
  check: () => {
    throw new Error("no");
  },
  chat: () =>
    Promise.resolve({ message: { role: "assistant", content: "no" }, finishReason: "other" }),
  async *stream() {
    yield { type: "text", text: "no" };
  },
};

describe("chatModelContract()", () => {
  const create: ChatModelContractOptions["create"] = () =>
    Promise.resolve({ model: stubborn, lastRequest: () => ({}), close: () => Promise.resolve() });

  it("fails a completely wrong model in every test except missing usage", async () => {
    expect(await passing(collectTests({ create }))).to.deep.equal([
      "omits the usage if none was reported",
    ]);
  });

  it("does not register checks that the set-up does not support", () => {
    const names = collectTests({
      create,
      supports: {
        streaming: false,
        structuredOutput: false,
        images: false,
        missingUsage: false,
        hang: false,
        stall: false,
      },
    }).map((test) => test.name);
    expect(names).to.have.length.greaterThan(10);
    expect(names.join("\n")).not.to.match(
      /stream|schema|image|none was reported|right after|while waiting/,
    );
  });

  it("refuses options that have no effect", () => {
    const options = { create, supports: { stream: false } } as ChatModelContractOptions;
    expect(() => collectTests(options)).to.throw(ValidationError, "streaming");
  });

  it("closes its models, even after a failure", async () => {
    let open = 0;
    const tests = collectTests({
      create: () => {
        open++;
        return Promise.resolve({ model: stubborn, close: () => Promise.resolve(void open--) });
      },
    });
    await passing(tests);
    expect(open).to.equal(0);
  });
});
