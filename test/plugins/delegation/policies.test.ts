import type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
  DelegationResponse,
  EnsembleOptions,
  Plugin,
} from "agentensemble";
import {
  Agent,
  DelegationPolicyResult,
  ExitEarlySignal,
  Kernel,
  replace,
  standardPlugins,
  Tokens,
  ValidationError,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { delegationPolicies } from "../../../src/plugins/delegation/policies/index.js";
import { runToEnd, scoped, tapping, type Ended } from "../../support/kernel-fixtures.js";
import { textAt } from "./prompt-text.js";
import { pause } from "../../support/time.js";

const { allow, modify, reject } = DelegationPolicyResult;
const agents = ["Worker", "Helper"].map((role) => new Agent({ role, goal: "Work" }));
const request: DelegationRequest = {
  taskId: "d1",
  agentRole: "worker",
  taskDescription: "Help",
  scope: {},
  priority: "NORMAL",
  maxOutputRetries: 0,
  metadata: {},
};

async function judged(
  policies: readonly DelegationPolicy[],
  options: EnsembleOptions = {},
): Promise<
  Ended & { readonly response: DelegationResponse | undefined; readonly model: ScriptedModel }
> {
  const model = new ScriptedModel(["done"], { onExhausted: "repeat-last" });
  let response: DelegationResponse | undefined;
  const task = scoped("lead", async (scope) => {
    response = await scope.delegate(request);
  });
  const ended = await runToEnd({
    model,
    agents,
    tasks: [task],
    delegationPolicies: policies,
    ...options,
  });
  return { ...ended, response, model };
}

describe("delegation policies", () => {
  it("are called in order, with the worker's own spelling of the role, and their context", async () => {
    const seen: (readonly [string, string, DelegationPolicyContext])[] = [];
    const note =
      (name: string): DelegationPolicy =>
      ({ agentRole }, ctx) => {
        seen.push([name, agentRole, ctx]);
        return allow();
      };
    expect((await judged([note("one"), note("two")])).response?.status).to.equal("SUCCESS");
    const context = {
      delegatingAgentRole: "(deterministic)",
      currentDepth: 0,
      maxDepth: 3,
      availableWorkerRoles: ["Worker", "Helper"],
    };
    expect(seen).to.deep.equal([
      ["one", "Worker", context],
      ["two", "Worker", context],
    ]);
  });

  it("stop at the first refusal: no other policy is called, and no start is reported", async () => {
    let asked = false;
    const { response, events, model } = await judged([
      () => reject("no budget"),
      () => ((asked = true), allow()),
    ]);
    expect(response).to.deep.include({
      status: "FAILURE",
      errors: ["Delegation rejected by policy: no budget"],
    });
    expect([asked, model.requests.length]).to.deep.equal([false, 0]);
    expect(
      events.map(({ type }) => type).filter((type) => type.startsWith("delegation_")),
    ).to.deep.equal(["delegation_failed"]);
  });

  it("may modify the request for later policies and the worker", async () => {
    const seen: string[] = [];
    const { response, model, events } = await judged([
      (r) =>
        modify({
          ...r,
          agentRole: " HELPER ",
          taskDescription: "Help kindly",
          scope: { region: "EU" },
        }),
      (r) => (seen.push(r.agentRole, r.taskDescription), allow()),
    ]);
    expect(seen).to.deep.equal(["Helper", "Help kindly"]);
    expect(response?.workerRole).to.equal("Helper");
    expect(textAt(model.requests[0], 1))
      .to.include("Help kindly")
      .and.to.include('{"region":"EU"}');
    expect(events.find(({ type }) => type === "delegation_started")).to.have.nested.property(
      "request.scope.region",
      "EU",
    );
  });

  it("can't modify the role to an unknown worker or to the delegator", async () => {
    const nobody = await judged([(r) => modify({ ...r, agentRole: "Ghost" })]);
    expect(nobody.response?.errors).to.deep.equal([
      "A policy modified agentRole to 'Ghost' but no agent found with that role. Available roles: [Worker, Helper]",
    ]);
    const back = await judged([(r) => modify({ ...r, agentRole: "(deterministic)" })]);
    expect(back.response?.errors).to.deep.equal([
      "A policy modified agentRole to '(deterministic)' which results in self-delegation. Choose a different target.",
    ]);
  });

  it("refuse the delegation if they throw, return an invalid value, or take too long", async () => {
    const odd =
      (value: unknown): DelegationPolicy =>
      () =>
        value as never; // a mistake of a JavaScript user's
    const cases: readonly (readonly [DelegationPolicy, RegExp])[] = [
      [
        () => {
          throw new Error("oops");
        },
        /^Delegation rejected by policy: .*threw: oops$/,
      ],
      [odd(undefined), /returned undefined/],
      [odd(true), /returned true/],
      [odd({ type: "MAYBE" }), /MAYBE/],
      [odd({ type: "MODIFY" }), /must return/],
      [odd({ type: "MODIFY", request: { ...request, priority: "URGENT" } }), /must return/],
      [odd({ type: "REJECT" }), /returned no reason/],
      [() => new Promise(() => undefined), /did not decide within 20 ms/],
    ];
    for (const [policy, text] of cases) {
      const { response, model } = await judged([policy], {
        plugins: [delegationPolicies({ timeoutMs: 20 })],
      });
      expect(response?.errors[0]).to.match(text);
      expect(model.requests).to.have.length(0);
    }
  });

  it("leave no timer if the kernel is disposed of before they decide", async () => {
    const kernel = new Kernel({ plugins: standardPlugins() });
    const controller = new AbortController();
    const hang: DelegationPolicy = () => (controller.abort(), new Promise(() => undefined));
    await pause(); // mocha's own timer is there
    const before = process.getActiveResourcesInfo().filter((r) => r === "Timeout").length;
    const { error } = await runToEnd(
      {
        model: new ScriptedModel([]),
        agents,
        kernel,
        delegationPolicies: [hang],
        tasks: [scoped("lead", async (scope) => (await scope.delegate(request)).status)],
      },
      { signal: controller.signal, cancelGraceMs: 1 },
    );
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    await kernel.dispose();
    await pause(50); // the grace periods of the run are over
    expect(process.getActiveResourcesInfo().filter((r) => r === "Timeout").length).to.be.at.most(
      before,
    );
  });

  it("may end the run", async () => {
    expect(
      (
        await judged([
          () => {
            throw new ExitEarlySignal("enough");
          },
        ])
      ).output.exitReason,
    ).to.equal("USER_EXIT_EARLY");
  });

  it("receive the request as changed by other plugins, and every later change", async () => {
    const transforming = (order: "normal" | "post"): Plugin =>
      tapping(`transform-${order}`, ({ hooks }) =>
        hooks.beforeDelegation.tap({ name: "t", lane: "transform", order }, (call) =>
          replace({ request: { ...call.request, taskDescription: "changed" } }),
        ),
      );
    const onlyChanged: DelegationPolicy = (r) =>
      r.taskDescription === "changed" ? allow() : reject("unchanged");
    expect(
      (await judged([onlyChanged], { plugins: [transforming("normal")] })).response?.status,
    ).to.equal("SUCCESS");
    const late = new Kernel({ plugins: [...standardPlugins(), transforming("post")] });
    try {
      expect((await judged([() => allow()], { kernel: late })).response?.errors[0]).to.include(
        "changed after the policies had judged it",
      );
    } finally {
      await late.dispose();
    }
  });

  it("of plugins, the ensemble and the run all apply", async () => {
    const asked: string[] = [];
    const policy =
      (name: string): DelegationPolicy =>
      () => (asked.push(name), allow());
    const plugin: Plugin = {
      name: "bound",
      bind: (bind) => void bind.many(Tokens.DelegationPolicy).toConstantValue(policy("plugin")),
    };
    const task = scoped("lead", async (scope) => (await scope.delegate(request)).status);
    await runToEnd(
      {
        model: new ScriptedModel(["done"]),
        agents,
        tasks: [task],
        plugins: [plugin],
        delegationPolicies: [policy("ensemble")],
      },
      {
        bindings: (bind) => void bind.many(Tokens.DelegationPolicy).toConstantValue(policy("run")),
      },
    );
    expect(asked).to.deep.equal(["plugin", "ensemble", "run"]);
  });

  it("refuse unknown options and invalid limits", () => {
    expect(() => delegationPolicies({ timeout: 1 } as never)).to.throw(
      ValidationError,
      "timeoutMs",
    );
    expect(() => delegationPolicies({ timeoutMs: 0 })).to.throw(ValidationError);
  });
});
