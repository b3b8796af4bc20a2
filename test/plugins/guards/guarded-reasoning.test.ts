import { expect } from "chai";
import type { Plugin } from "../../../src/contracts/plugin.js";
import { canary } from "../../../src/plugins/guards/canary/index.js";
import { jsonOnly } from "../../../src/plugins/guards/json-only/index.js";
import { links } from "../../../src/plugins/guards/links/index.js";
import { personalData } from "../../../src/plugins/guards/personal-data/index.js";
import { secrets } from "../../../src/plugins/guards/secrets/index.js";
import { topics } from "../../../src/plugins/guards/topics/index.js";
import { guarded } from "./guarded-team.js";

const KEY = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

interface Reasoned {
  /** The texts of the events. */
  readonly events: readonly string[];
  readonly error: Error | undefined;
}

/** Runs a task whose model reasons before it answers. */
async function reasoned(plugin: Plugin, reasoning: string, text = "done"): Promise<Reasoned> {
  const events: string[] = [];
  const { error, shown } = await guarded([plugin], [{ reasoning: [reasoning], text }], {
    listeners: [
      {
        on(event) {
          if (event.type === "reasoning_received") events.push(event.reasoning);
        },
      },
    ],
  });
  expect(shown).to.not.contain(reasoning);
  return { events, error };
}

describe("reasoning of a guarded model", () => {
  for (const action of ["mask", "refuse"] as const) {
    it(`is masked by secrets with ${action}`, async () => {
      const { events, error } = await reasoned(secrets({ action }), `The key is ${KEY}.`);
      expect(events).to.deep.equal(["The key is [secret]."]);
      expect(error).to.equal(undefined);
    });

    it(`is masked by links with ${action}`, async () => {
      const { events } = await reasoned(
        links({ hosts: [], action }),
        "See https://evil.test/?a=1 now",
      );
      expect(events).to.deep.equal(["See [link removed] now"]);
    });
  }

  for (const options of [{ restore: false }, { action: "refuse" }] as const)
    it(`is masked by personalData with ${JSON.stringify(options)}`, async () => {
      const { events } = await reasoned(personalData(options), "Write to ann@example.com first");
      expect(events).to.have.length(1);
      expect(events[0]).to.match(/^Write to \[EMAIL_\w{7}\] first$/);
    });

  it("is removed by guards that do not judge reasoning", async () => {
    const words = ["Kestrel Marmalade"];
    for (const guard of [
      canary({ words, insert: false }),
      topics({ deny: { drinks: ["wine"] } }),
    ]) {
      const { events } = await reasoned(guard, "kestrel marmalade and wine");
      expect(events, guard.name).to.deep.equal([]);
    }
  });

  it("stays unchanged without findings, and with guards of the form of an output", async () => {
    for (const [guard, text] of [
      [secrets(), "done"],
      [jsonOnly(), "{}"],
    ] as const) {
      const { events } = await reasoned(guard, "No key is needed", text);
      expect(events, guard.name).to.deep.equal(["No key is needed"]);
    }
  });

  it("keeps the data of the vendor for the next call", async () => {
    const { withReasoning } = await import("../../../src/plugins/guards/shared/reasoning.js");
    const block = { type: "reasoning", provider: "p", modelId: "m", index: 0 } as const;
    const data = { signature: "s" };
    const message = {
      role: "assistant",
      content: "a",
      reasoning: [
        { ...block, text: "one", data },
        { ...block, text: "two", index: 1 },
      ],
    } as const;
    const response = { message, finishReason: "stop", reasoning: "one two" } as const;
    const changed = withReasoning(response, (text) => text.replace("one", "*"));
    expect(changed).to.deep.equal({
      ...response,
      reasoning: "* two",
      message: { ...message, reasoning: [{ ...block, text: "*", data }, message.reasoning[1]] },
    });
    expect(withReasoning(response, (text) => text)).to.equal(response);
    const plain = { message: { role: "assistant", content: "a" }, finishReason: "stop" } as const;
    expect(withReasoning(plain, () => "")).to.equal(plain);
  });
});
