import { expect } from "chai";
import type { Task as WireTask } from "@a2a-js/sdk";
import type { EnsembleOptions, WorkRequest } from "../../src/index.js";
import {
  Agent,
  Ensemble,
  Review,
  ReviewDecision,
  Task,
  ValidationError,
  tool,
} from "../../src/index.js";
import { network, NetworkTask } from "../../src/network.js";
import { ScriptedModel } from "../../src/testing.js";
import { a2a } from "../../src/plugins/network/shared/a2a-client/a2a-remote.js";
import { contentsOfReview } from "./a2a-questions.js";
import { dataPart, messageWith } from "../../src/plugins/network/shared/a2a/parts.js";
import { ROLE, STATE } from "../../src/plugins/network/shared/a2a/protocol.js";
import {
  collected,
  plainClient,
  resultOf,
  taskIn,
  textRequest,
} from "../plugins/network/a2a/plain-client.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { gate, handlerTask, requests } from "./support.js";

const AWAIT = { timeoutMs: 30_000 };
const TOKEN = "a-token-of-the-shop";

function served(options: Partial<EnsembleOptions> = {}): Ensemble {
  const meal = new Task({
    description: "Prepare {context}",
    handler: ({ description }) => description,
  });
  return new Ensemble({ name: "kitchen", shareTasks: { meal }, ...options });
}

describe("a service over A2A", () => {
  it("executes requests of another ensemble", async () => {
    const stock = tool({
      name: "stock",
      description: "How many are there",
      execute: (name) => `3 of ${name}`,
    });
    await using kitchen = served({ shareTools: { stock } });
    await using service = await kitchen.start(0);
    const remote = a2a(service.url ?? "");
    const request = requests();
    const shared = await remote.capabilities();
    expect(shared.map(({ name, type }) => [name, type])).to.deep.equal([
      ["meal", "TASK"],
      ["stock", "TOOL"],
    ]);
    const meal = request("meal", { context: "soup" });
    expect(await remote.send(meal)).to.deep.equal({ status: "ACCEPTED" });
    expect(await remote.response(meal.requestId, AWAIT)).to.include({
      status: "COMPLETED",
      result: "Prepare soup",
      servedBy: service.instance,
    });
    const call = request("stock", { type: "TOOL", inputs: { input: "eggs" } });
    await remote.send(call);
    expect(await remote.response(call.requestId, AWAIT)).to.include({ result: "3 of eggs" });
    await remote.close();
  });

  it("is a tool of the agents of another ensemble, which counts its usage", async () => {
    const cook = new Agent({ role: "Cook", goal: "Cook" });
    const meal = new Task({ description: "Prepare {context}", agent: cook });
    const usage = { inputTokens: 1_000, outputTokens: 24 };
    await using kitchen = served({
      model: new ScriptedModel([{ text: "Soup is served", usage }]),
      shareTasks: { meal },
    });
    await using service = await kitchen.start({ port: 0, callers: { hotel: TOKEN } });
    const call = { name: "kitchen__meal", arguments: { context: "soup" } };
    await using hotel = new Ensemble({
      model: new ScriptedModel([{ toolCalls: [call] }, { text: "done" }]),
      plugins: [
        network({
          name: "hotel",
          ensembles: { kitchen: { url: service.url ?? "", token: TOKEN } },
        }),
      ],
      tasks: [
        new Task({
          description: "Serve the guest",
          agent: new Agent({
            role: "Waiter",
            goal: "Serve",
            tools: [NetworkTask.from("kitchen", "meal")],
          }),
        }),
      ],
    });
    const output = await hotel.run();
    expect(output.raw).to.equal("done");
    const remote = output.metrics.ledger.filter(({ purpose }) => purpose === "remote");
    expect(
      remote.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]),
    ).to.deep.equal([[1_000, 24]]);
  });

  it("reports a wrong token immediately", async () => {
    await using kitchen = served();
    await using service = await kitchen.start({ port: 0, callers: { hotel: TOKEN } });
    const url = service.url ?? "";
    const token = "another-token-of-them";
    const plugin = network({ name: "hotel", ensembles: { kitchen: { url, token } } });
    await using hotel = new Ensemble({ plugins: [plugin], tasks: [handlerTask(() => "x")] });
    await hotel.run();
    const asked = plugin.network.request("kitchen", "meal", { context: "soup" });
    const error = await rejection(asked);
    expect(error).to.have.property("message").that.contains("HTTP 401");
    const wrong = (place: object): unknown =>
      network({ name: "hotel", ensembles: { kitchen: place as { url: string } } });
    expect(() => wrong({ url: "kitchen" })).to.throw(
      ValidationError,
      "ensembles.kitchen url must be",
    );
    expect(() => wrong({ url, tokn: "x" })).to.throw(ValidationError, "token");
    expect(() => wrong({ url, token: "a b" })).to.throw(ValidationError, "ensembles.kitchen token");
  });

  it("executes requests of a plain client, blocking and streamed", async () => {
    await using kitchen = served();
    await using service = await kitchen.start(0);
    const client = await plainClient(service.url ?? "");
    const task = taskIn(await client.sendMessage(textRequest("soup")));
    expect(resultOf(task)).to.equal("Prepare soup");
    const request = textRequest("stew", { messageId: "m-2" });
    const events = await collected(client.sendMessageStream(request));
    expect(events.at(-1)?.$case).to.equal("statusUpdate");
    const artifact = events.find((event) => event?.$case === "artifactUpdate");
    const [part] =
      artifact?.$case === "artifactUpdate" ? (artifact.value.artifact?.parts ?? []) : [];
    expect(part?.content?.value).to.equal("Prepare stew");
  });

  it("forwards the review of a run and accepts the answer of its caller", async () => {
    const meal = new Task({
      description: "Prepare {context}",
      handler: () => "salty soup",
      review: Review.required("Is it good?"),
    });
    await using kitchen = served({ shareTasks: { meal } });
    await using service = await kitchen.start(0);
    const remote = a2a(service.url ?? "");
    const request: WorkRequest = requests()("meal", { context: "soup" });
    await remote.send(request);
    const asked = new Promise<Record<string, unknown>>((resolve) => {
      void remote
        .response(request.requestId, {
          timeoutMs: 20_000,
          onProgress: (progress) => {
            const fields = progress as Record<string, unknown>;
            if (fields["question"] !== undefined) resolve(fields);
          },
        })
        .catch(() => undefined);
    });
    const review = await asked;
    expect(review).to.include({ question: "Is it good?", output: "salty soup" });
    expect(review["expires"]).to.be.a("string");
    const reviewId = String(review["reviewId"]);
    const edit = ReviewDecision.edit("good soup", { comment: "less salt" });
    expect(await remote.decide(request.requestId, reviewId, edit)).to.equal(true);
    const other = a2a(service.url ?? "");
    expect(await other.response(request.requestId, AWAIT)).to.include({ result: "good soup" });
    expect(await other.decide(request.requestId, reviewId, edit)).to.equal(false);
    await Promise.all([remote.close(), other.close()]);
  });

  it("requests input from a plain client and continues with its answer", async () => {
    const meal = new Task({
      description: "Prepare {context}",
      handler: () => "soup",
      review: Review.required("Is it good?"),
    });
    await using kitchen = served({ shareTasks: { meal } });
    await using service = await kitchen.start(0);
    const client = await plainClient(service.url ?? "");
    const asking: WireTask = taskIn(await client.sendMessage(textRequest("soup")));
    expect(asking.status?.state).to.equal(STATE.INPUT_REQUIRED);
    const { reviewId } = contentsOfReview(asking);
    const answer = (data: unknown): ReturnType<typeof textRequest> => ({
      ...textRequest(""),
      message: messageWith({
        messageId: "m-2",
        taskId: asking.id,
        role: ROLE.USER,
        parts: [dataPart(data)],
      }),
    });
    const wrong = await rejection(client.sendMessage(answer({ reviewId, decision: "maybe" })));
    expect(wrong).to.have.property("message").that.contains("decision must be continue");
    const unknown = { reviewId: "other", decision: "continue" };
    const missing = await rejection(client.sendMessage(answer(unknown)));
    expect(missing).to.have.property("message").that.contains("no review 'other'");
    const done = taskIn(await client.sendMessage(answer({ reviewId, decision: "continue" })));
    expect(done.status?.state).to.equal(STATE.COMPLETED);
    expect(resultOf(done)).to.equal("soup");
  });

  it("requires tokens of callers, applies their limits, and hides its card", async () => {
    const wait = gate();
    await using kitchen = served({ shareTasks: { meal: handlerTask(() => wait.opened) } });
    const callers = { shop: { token: TOKEN, maxQueued: 1 } };
    await using service = await kitchen.start({ port: 0, callers, card: "private" });
    const card = `${service.url ?? ""}/.well-known/agent-card.json`;
    expect((await fetch(card)).status).to.equal(401);
    const remote = a2a(service.url ?? "", { token: TOKEN });
    const request = requests();
    expect(await remote.send(request("meal"))).to.deep.equal({ status: "ACCEPTED" });
    expect(await remote.send(request("meal"))).to.deep.equal({ status: "FULL" });
    expect(service.requests().every(({ from }) => from === "shop")).to.equal(true);
    wait.open();
    await remote.close();
  });

  it("ends the streams of clients with the results of the drained requests", async () => {
    const wait = gate();
    await using kitchen = served({
      shareTasks: {
        meal: handlerTask(async () => {
          await wait.opened;
          return "soup";
        }),
      },
    });
    await using service = await kitchen.start(0);
    const remote = a2a(service.url ?? "", { retryForMs: 0 });
    const request = requests();
    const first = request("meal");
    await remote.send(first);
    await until(() => service.requests().length === 1);
    const stopped = service.stop();
    const refused = await rejection(remote.send(request("meal")));
    expect(refused).to.have.property("message").that.contains("HTTP 503");
    wait.open();
    expect(await remote.response(first.requestId, AWAIT)).to.include({ result: "soup" });
    await stopped;
    await remote.close();
  });

  it("refuses an unknown value of the option card", async () => {
    await using kitchen = served();
    const error = await rejection(kitchen.start({ port: 0, card: "secret" as "public" }));
    expect(error).to.be.instanceOf(ValidationError);
    expect(error).to.have.property("message").that.contains("card");
    const idle = await rejection(kitchen.start({ card: "private" }));
    expect(idle).to.have.property("message").that.contains("has no effect without port");
  });
});
