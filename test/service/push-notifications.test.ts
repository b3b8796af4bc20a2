import { expect } from "chai";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SendMessageRequest, TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { StreamResponse } from "@a2a-js/sdk";
import type { EnsembleOptions, Service, StartOptions, WebhookOptions } from "../../src/index.js";
import { Ensemble, Review, Task } from "../../src/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { STATE } from "../../src/plugins/network/shared/a2a/protocol.js";
import { reviewOf } from "../../src/plugins/network/shared/a2a/review-message.js";
import { storedIdOf } from "../../src/plugins/network/shared/stored-ids.js";
import { webhookProblem } from "../../src/plugins/shared/webhooks/webhook-signature.js";
import { plainClient, resultOf, taskIn, textRequest } from "../plugins/network/a2a/plain-client.js";
import { LoopbackSite, redirect } from "../support/loopback-site.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { eventLog, gate } from "./support.js";

const SECRET = "a secret of the tests";
const [SHOP, HOTEL] = ["a-token-of-the-shop", "a-token-of-the-hotel"];
const TOKEN = "the-token-of-a-configuration";
const CREDENTIALS = "the-credentials-of-a-configuration";

describe("push notifications over A2A", () => {
  let site: LoopbackSite;
  let statuses: number[] = [];
  before(async () => {
    site = await LoopbackSite.start({
      "/hook": (_request, response) => void response.writeHead(statuses.shift() ?? 200).end(),
      "/moved": redirect(307, () => site.url("/hook")),
    });
  });
  after(() => site.close());
  beforeEach(() => {
    statuses = [];
    site.requests.length = 0;
  });

  const webhooks = (more: Partial<WebhookOptions> = {}): WebhookOptions => ({
    secret: SECRET,
    hosts: ["127.0.0.1", "169.254.169.254", "localhost"],
    allow: { hosts: [site.host] },
    maxAttempts: 1,
    ...more,
  });
  const config = (more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
    tenant: "",
    id: "",
    taskId: "",
    url: site.url("/hook"),
    token: TOKEN,
    authentication: { scheme: "Bearer", credentials: CREDENTIALS },
    ...more,
  });
  /** A message with a configuration whose answer does not wait for the task. */
  const sent = (
    taskPushNotificationConfig: TaskPushNotificationConfig | undefined,
    messageId = "m-1",
  ): SendMessageRequest => ({
    ...textRequest("soup", { messageId }),
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately: true },
  });
  const seen = (): StreamResponse["payload"][] =>
    site.requests.map(({ body }) => StreamResponse.fromJSON(JSON.parse(body)).payload);
  /** The task of a notification. */
  const posted = (index = 0): ReturnType<typeof taskIn> => {
    const payload = seen()[index];
    return payload?.$case === "task" ? payload.value : none();
  };

  /** A kitchen whose task waits for `wait`, and a client of one of its callers. */
  async function kitchen(
    start: Partial<StartOptions> = {},
    options: Partial<EnsembleOptions> = {},
  ) {
    const wait = gate();
    const log = eventLog();
    const meal = new Task({
      description: "Prepare {context}",
      handler: async ({ description }) => {
        await wait.opened;
        return description;
      },
    });
    const ensemble = new Ensemble({ name: "kitchen", shareTasks: { meal }, ...options });
    const backend = start.backend ?? NetworkBackend.inMemory();
    const service = await ensemble.start({
      ...{ backend, port: 0, signals: false, listeners: [log.listener], webhooks: webhooks() },
      callers: { shop: SHOP, hotel: HOTEL },
      ...start,
    });
    const as = (token: string): Promise<Client> => plainClient(service.url ?? "", token);
    const client = await as(SHOP);
    const end = (): Promise<void> => ensemble.dispose();
    return { service, client, as, backend, log, wait, end, [Symbol.asyncDispose]: end };
  }
  const isDone =
    (backend: NetworkBackend, messageId = "m-1") =>
    async (): Promise<boolean> =>
      (await backend.queue.status("kitchen", storedIdOf("shop", messageId))) === "DONE";
  const letterOf = async (service: Service): Promise<string> => {
    await until(async () => (await service.deadLetters()).length === 1);
    return JSON.stringify(await service.deadLetters());
  };

  it("post the ended task with its token, its credentials and the signature of webhooks", async () => {
    await using one = await kitchen();
    expect((await one.client.getAgentCard()).capabilities?.pushNotifications).to.equal(true);
    const { id } = taskIn(await one.client.sendMessage(sent(config())));
    expect(site.requests).to.have.length(0);
    one.wait.open();
    await until(isDone(one.backend));
    expect(site.requests).to.have.length(1);
    const [first] = site.requests;
    const { headers, body } = first ?? none();
    expect(headers["content-type"]).to.equal("application/a2a+json");
    expect(headers["x-a2a-notification-token"]).to.equal(TOKEN);
    expect(headers.authorization).to.equal(`Bearer ${CREDENTIALS}`);
    const signed = new Headers(headers as Record<string, string>);
    expect(webhookProblem(signed, body, { secrets: [SECRET], at: new Date() })).to.equal(undefined);
    expect(posted().status?.state).to.equal(STATE.COMPLETED);
    expect([posted().id, resultOf(posted())]).to.deep.equal([id, "Prepare soup"]);
    expect(posted()).to.deep.include({ contextId: (await got(one.client, id)).contextId });
    const left = await one.client.listTaskPushNotificationConfig(listed(id));
    expect(left.configs).to.deep.equal([]);
  });

  it("are sent for a blocking message, a stream and a cancellation", async () => {
    await using one = await kitchen();
    one.wait.open();
    const blocking = sent(config());
    if (blocking.configuration !== undefined) blocking.configuration.returnImmediately = false;
    await one.client.sendMessage(blocking);
    for await (const _event of one.client.sendMessageStream(sent(config(), "m-2")));
    await until(() => site.requests.length === 2);
    await using other = await kitchen();
    const { id } = taskIn(await other.client.sendMessage(sent(config(), "m-3")));
    await other.client.cancelTask({ tenant: "", id, metadata: undefined });
    await until(() => site.requests.length === 3);
    expect(posted(2).status?.state).to.equal(STATE.CANCELED);
  });

  it("are configured, read and removed for a task in progress, without showing secrets", async () => {
    await using one = await kitchen();
    const { id: taskId } = taskIn(await one.client.sendMessage(sent(undefined)));
    const { client } = one;
    const [a, b] = [config({ taskId, id: "a" }), config({ taskId, token: "" })];
    const added = await client.createTaskPushNotificationConfig(a);
    const unnamed = await client.createTaskPushNotificationConfig(b);
    await client.createTaskPushNotificationConfig(b); // a repetition
    expect(added).to.deep.equal({
      ...a,
      token: "",
      authentication: { scheme: "Bearer", credentials: "" },
    });
    const name = { tenant: "", taskId, id: "a" };
    expect(await client.getTaskPushNotificationConfig(name)).to.deep.equal(added);
    const { configs } = await client.listTaskPushNotificationConfig(listed(taskId));
    expect(configs).to.have.deep.members([added, unnamed]);
    await client.deleteTaskPushNotificationConfig(name);
    await client.deleteTaskPushNotificationConfig(name);
    const missing = await rejection(client.getTaskPushNotificationConfig(name));
    expect(missing).to.have.property("name", "TaskNotFoundError");
    one.wait.open();
    await until(isDone(one.backend));
    expect(site.requests.map(({ headers }) => headers["x-a2a-notification-token"])).to.deep.equal([
      undefined,
    ]);
  });

  it("belong to the caller of the task: for others the task is unknown", async () => {
    await using one = await kitchen();
    const { id: taskId } = taskIn(await one.client.sendMessage(sent(config({ id: "a" }))));
    const hotel = await one.as(HOTEL);
    const errors = async (task: string): Promise<string[]> => {
      const name = { tenant: "", taskId: task, id: "a" };
      const tried = [
        hotel.createTaskPushNotificationConfig(config({ taskId: task })),
        hotel.getTaskPushNotificationConfig(name),
        hotel.listTaskPushNotificationConfig(listed(task)),
        hotel.deleteTaskPushNotificationConfig(name),
      ];
      const found = await Promise.all(tried.map((call) => rejection(call)));
      return found.map((error) => String(error).replaceAll(task, "T"));
    };
    const foreign = await errors(taskId);
    expect(foreign).to.deep.equal(await errors("m-unknown"));
    for (const error of foreign) expect(error).to.match(/^TaskNotFoundError/);
    await hotel.sendMessage(sent(undefined)); // the same id of a message is another task
    one.wait.open();
    await until(isDone(one.backend));
    expect(site.requests).to.have.length(1);
  });

  it("are refused for private addresses and invalid fields, together with the message", async () => {
    await using one = await kitchen();
    const wrong: readonly [Partial<TaskPushNotificationConfig>, RegExp][] = [
      [{ url: "http://169.254.169.254/latest" }, /not public/],
      [{ url: `http://localhost/hook` }, /this machine/],
      [{ url: "http://127.0.0.1:1/hook" }, /port 1/],
      [{ url: "https://elsewhere.example/hook" }, /not on the list/],
      [{ url: `http://user:hunter2@${site.host}/hook` }, /user name/],
      [{ url: "ftp://127.0.0.1/hook" }, /only http and https/],
      [{ url: "hook" }, /absolute URL/],
      [{ url: site.url(`/hook?${"x".repeat(2_048)}`) }, /more than 2048/],
      [{ token: "t".repeat(4_097) }, /token must have/],
      [{ token: "a\r\nx-admin: 1" }, /token must have/],
      [{ authentication: { scheme: "Bearer", credentials: "a\nb" } }, /credentials must have/],
      [{ authentication: { scheme: "Bearer", credentials: "" } }, /both scheme and credentials/],
      [{ authentication: { scheme: "Bearer x", credentials: CREDENTIALS } }, /scheme must be/],
      [{ id: "a\nb" }, /id of a push configuration/],
    ];
    for (const [more, text] of wrong) {
      const error = await rejection(one.client.sendMessage(sent(config(more))));
      expect(error).to.have.property("name", "RequestMalformedError");
      expect(String(error)).to.match(text);
      for (const secret of [TOKEN, CREDENTIALS, "hunter2", "x-admin"])
        expect(String(error)).to.not.contain(secret);
    }
    const unknown = await rejection(got(one.client, "m-1"));
    expect(unknown).to.have.property("name", "TaskNotFoundError");
    const { id: taskId } = taskIn(await one.client.sendMessage(sent(undefined)));
    for (const id of ["1", "2", "3", "4", "5"])
      await one.client.createTaskPushNotificationConfig(config({ taskId, id }));
    const sixth = config({ taskId, id: "6" });
    const error = await rejection(one.client.createTaskPushNotificationConfig(sixth));
    expect(String(error)).to.contain("at most 5 push configurations");
    expect(site.requests).to.have.length(0);
  });

  it("are not supported by a service without webhooks", async () => {
    await using one = await kitchen({ webhooks: undefined });
    const { client } = one;
    const { id: taskId } = taskIn(await client.sendMessage(sent(undefined)));
    const name = { tenant: "", taskId, id: "a" };
    expect((await client.getAgentCard()).capabilities?.pushNotifications).to.equal(false);
    const rpc = async (method: string, params: object): Promise<unknown> => {
      const response = await fetch(`${one.service.url ?? ""}/a2a`, {
        method: "POST",
        headers: {
          ...{ "Content-Type": "application/json", "A2A-Version": "1.0" },
          Authorization: `Bearer ${SHOP}`,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { error } = (await response.json()) as { readonly error?: { readonly code: number } };
      return error?.code;
    };
    const codes = [
      await rpc("CreateTaskPushNotificationConfig", { ...name, url: site.url("/hook") }),
      await rpc("GetTaskPushNotificationConfig", name),
      await rpc("ListTaskPushNotificationConfigs", name),
      await rpc("DeleteTaskPushNotificationConfig", name),
      await rpc("SendMessage", {
        message: { messageId: "m-2", role: "ROLE_USER", parts: [{ text: "soup" }] },
        configuration: { taskPushNotificationConfig: { url: site.url("/hook") } },
      }),
    ];
    expect(codes).to.deep.equal(Array(5).fill(-32_003));
    expect((await one.service.stats()).depth.queued + one.service.requests().length).to.equal(1);
  });

  it("are refused for a task that has ended, whose result GetTask returns", async () => {
    await using one = await kitchen();
    one.wait.open();
    const { id: taskId } = taskIn(await one.client.sendMessage(textRequest("soup")));
    const late = one.client.createTaskPushNotificationConfig(config({ taskId }));
    const error = await rejection(late);
    expect(error).to.have.property("name", "UnsupportedOperationError");
    const again = taskIn(await one.client.sendMessage(sent(config())));
    expect(again.status?.state).to.equal(STATE.COMPLETED);
    const { configs } = await one.client.listTaskPushNotificationConfig(listed(taskId));
    expect([configs.length, site.requests.length]).to.deep.equal([0, 0]);
  });

  it("are repeated while the receiver fails", async () => {
    const clock = new SteppingClock();
    await using one = await kitchen(
      { webhooks: webhooks({ maxAttempts: 3 }) },
      { plugins: [clock.plugin()] },
    );
    statuses = [503, 500];
    one.wait.open();
    await one.client.sendMessage(sent(config()));
    await until(async () => {
      await clock.advance(500);
      return isDone(one.backend)();
    });
    expect(site.requests.map(({ body }) => body === site.requests[0]?.body)).to.deep.equal(
      Array(3).fill(true),
    );
    expect(await one.service.deadLetters()).to.deep.equal([]);
  });

  it("are sent by the next instance after a restart, and the folder shows no secret", async () => {
    const folder = await mkdtemp(join(tmpdir(), "push-"));
    try {
      const first = await kitchen({ backend: NetworkBackend.file(folder) });
      await first.client.sendMessage(sent(config()));
      await until(() => first.service.requests().length === 1);
      await first.service.stop({ drainTimeoutMs: 1 });
      await first.end();
      await first.backend.close();
      for (const name of await readdir(folder, { recursive: true })) {
        const text = await readFile(join(folder, name), "utf8").catch(() => "");
        for (const secret of [TOKEN, CREDENTIALS, SECRET]) expect(text).to.not.contain(secret);
      }
      await using next = await kitchen({ backend: NetworkBackend.file(folder) });
      next.wait.open();
      await until(isDone(next.backend));
      expect(resultOf(posted())).to.equal("Prepare soup");
      expect(site.requests[0]?.headers["x-a2a-notification-token"]).to.equal(TOKEN);
      await next.service.stop();
      await next.backend.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("become dead letters without secrets at a redirect; a redrive sends only missing notifications", async () => {
    await using one = await kitchen();
    const { id: taskId } = taskIn(await one.client.sendMessage(sent(config({ id: "a" }))));
    const moved = config({ taskId, id: "b", url: site.url("/moved") });
    await one.client.createTaskPushNotificationConfig(moved);
    one.wait.open();
    const letter = await letterOf(one.service);
    expect(letter).to.contain("WEBHOOK_UNDELIVERED: The webhook answered with status 307");
    expect(site.requests.map(({ url }) => url)).to.have.members(["/hook", "/moved"]);
    const shown = JSON.stringify([letter, one.log.events]);
    for (const secret of [TOKEN, CREDENTIALS]) expect(shown).to.not.contain(secret);
    const { configs } = await one.client.listTaskPushNotificationConfig(listed(taskId));
    expect(configs.map(({ id }) => id)).to.deep.equal(["b"]);
    expect(await one.service.redrive(storedIdOf("shop", "m-1"))).to.equal(true);
    await until(() => site.requests.length === 3);
    expect(site.requests.at(-1)?.url).to.equal("/moved");
  });

  it("are checked again before they are sent", async () => {
    const backend = NetworkBackend.inMemory();
    const first = await kitchen({ backend });
    await first.client.sendMessage(sent(config()));
    await first.service.stop({ drainTimeoutMs: 1 });
    await first.end();
    await using next = await kitchen({ backend, webhooks: webhooks({ allow: {} }) });
    next.wait.open();
    expect(await letterOf(next.service)).to.match(/WEBHOOK_UNDELIVERED: Access to .* not allowed/);
    expect(site.requests).to.have.length(0);
  });

  it("stay configured if a message to their task is refused", async () => {
    await using one = await kitchen();
    const { id } = taskIn(await one.client.sendMessage(sent(config())));
    const answer = sent(config(), "m-2");
    if (answer.message !== undefined) answer.message.taskId = id;
    await rejection(one.client.sendMessage(answer)); // the task asks nothing
    one.wait.open();
    await until(isDone(one.backend));
    expect(posted().id).to.equal(id);
  });

  it("request input", async () => {
    const meal = new Task({
      description: "Prepare {context}",
      handler: () => "salty soup",
      review: Review.required("Is it good?"),
    });
    await using one = await kitchen({}, { shareTasks: { meal } });
    await one.client.sendMessage(sent(config()));
    await until(() => site.requests.length === 1);
    const [payload] = seen();
    const status = payload?.$case === "statusUpdate" ? payload.value.status : undefined;
    expect(status?.state).to.equal(STATE.INPUT_REQUIRED);
    const review = reviewOf(status?.message);
    expect(review).to.include({ question: "Is it good?", output: "salty soup" });
  });
});

function listed(taskId: string): Parameters<Client["listTaskPushNotificationConfig"]>[0] {
  return { tenant: "", taskId, pageSize: 0, pageToken: "" };
}

function got(client: Client, id: string): ReturnType<Client["getTask"]> {
  return client.getTask({ tenant: "", id });
}

function none(): never {
  throw new Error("Nothing was posted");
}
