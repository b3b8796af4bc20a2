import { expect } from "chai";
import type { BindApi, Plugin } from "../../../src/contracts/plugin.js";
import { tokenName } from "../../../src/contracts/token.js";
import { agentsHandler } from "../../../src/plugins/agents/handler/index.js";
import { agentsReact } from "../../../src/plugins/agents/react/index.js";
import { agentsSynthesis } from "../../../src/plugins/agents/synthesis/index.js";

/** A binding of a plugin: the token, the kind, and the value. */
function bindingsOf(
  plugin: Plugin,
): { readonly token: string; readonly how: object; readonly value: unknown }[] {
  const bindings: { token: string; how: object; value: unknown }[] = [];
  const keep = (token: unknown, how: object): object => ({
    toConstantValue: (value: unknown) =>
      void bindings.push({ token: tokenName(token), how, value }),
  });
  const bind = {
    single: (token: unknown, o: object = {}) => keep(token, o),
    many: (token: unknown) => keep(token, { many: true }),
  };
  plugin.bind?.(bind as unknown as BindApi); // the plugins bind constants only
  return bindings;
}

describe("the plugins of the agents group", () => {
  it("bind one executor each, and the texts of prompts", () => {
    const summary = (plugin: Plugin): unknown[] =>
      bindingsOf(plugin).map(({ token, how, value }) => [
        token,
        how,
        (value as { name?: string }).name,
      ]);
    const many = { many: true };
    expect(agentsReact().name).to.equal("agents-react");
    expect(summary(agentsReact())).to.deep.equal([
      ["TaskExecutor", many, "react"],
      ["PromptTemplates", many, undefined],
    ]);
    expect(agentsHandler().name).to.equal("agents-handler");
    expect(summary(agentsHandler())).to.deep.equal([["TaskExecutor", many, "handler"]]);
    expect(agentsSynthesis().name).to.equal("agents-synthesis");
    expect(summary(agentsSynthesis())).to.deep.equal([
      ["AgentSynthesizer", { default: true }, undefined],
      ["PromptTemplates", many, undefined],
    ]);
  });

  it("define frozen texts with a group in each name", () => {
    const records = [...bindingsOf(agentsReact()), ...bindingsOf(agentsSynthesis())].filter(
      ({ token }) => token === "PromptTemplates",
    );
    for (const { value } of records) {
      expect(value).to.be.frozen;
      for (const [name, text] of Object.entries(value as object)) {
        expect(name).to.match(/^[a-z]+\.[a-zA-Z]+$/);
        expect(text).to.be.a("string").and.not.empty;
      }
    }
  });
});
