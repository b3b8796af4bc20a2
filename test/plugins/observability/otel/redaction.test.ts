import { expect } from "chai";
import { Agent, definePlugin, Ensemble, Task, Tokens, tool } from "../../../../src/index.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import { otel } from "../../../../src/plugins/observability/otel/index.js";
import { textRedactor } from "../../../../src/plugins/observability/otel/redaction.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { RecordedSpans } from "./span-tree.js";

const ignored = (): void => undefined;

describe("the redaction of texts on spans", () => {
  const { redactText } = createRedactor({ environment: { ACME_API_KEY: "hunter(2).long" } });

  it("removes the known secrets of the run, and cuts", () => {
    const redact = textRedactor(undefined, ignored);
    expect(redact("key hunter(2).long and sk-proj-0123456789abcdefghij", redactText)).to.equal(
      "key [redacted] and [redacted]",
    );
    expect(redact("x".repeat(50_000), redactText)).to.have.length(16_387);
  });

  it("applies the rule of the user last, and shows nothing if it fails", () => {
    const seen: unknown[] = [];
    expect(
      textRedactor((text) => text.toUpperCase(), ignored)("a sk-0123456789abcdefghij", redactText),
    ).to.equal("A [REDACTED]");
    expect(
      textRedactor(
        () => 5 as never,
        (error) => void seen.push(error),
      )("secret", redactText),
    ).to.not.include("secret");
    expect(seen).to.have.length(1);
  });

  it("removes the keys of models, users' filters and fields named like secrets, in content and in errors", async () => {
    const spans = new RecordedSpans();
    const model = Object.assign(
      new ScriptedModel([
        { toolCalls: [{ name: "echo", arguments: { password: "hunter2" } }] },
        new Error("refused model-secret"),
      ]),
      {
        redact: (text: string) => text.replaceAll("model-secret", "[mine]"),
      },
    );
    const filter = (text: string): string => text.replaceAll("Ada Lovelace", "[name]");
    const names = definePlugin({
      name: "names",
      bind: (bind) => void bind.many(Tokens.SecretFilter).toConstantValue(filter),
    });
    const echo = tool({
      name: "echo",
      description: "Echoes",
      input: { type: "object" },
      execute: () => "for Ada Lovelace",
    });
    await using ensemble = new Ensemble({
      model,
      tasks: [
        new Task({
          description: "Tell Ada Lovelace of model-secret",
          agent: new Agent({ role: "Clerk", goal: "Do it", tools: [echo] }),
        }),
      ],
      plugins: [otel({ tracerProvider: spans.tracerProvider, captureContent: true }), names],
    });
    await ensemble.run({}, { throwOnError: false });
    const shown = JSON.stringify(
      spans.all.map(({ attributes, events, status }) => ({ attributes, events, status })),
    );
    expect(shown).to.include("[name]").and.include("refused [mine]");
    for (const secret of ["Ada Lovelace", "hunter2", "model-secret"])
      expect(shown).to.not.include(secret);
  });
});
