import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Page } from "../../../support/loopback-site.js";
import type { WebhookOptions } from "../../../../src/index.js";
import { expect } from "chai";
import { WebhookSender } from "../../../../src/plugins/shared/webhooks/webhook-sender.js";
import {
  requireWebhookSecret,
  signedHeaders,
  webhookProblem,
} from "../../../../src/plugins/shared/webhooks/webhook-signature.js";
import { checkWebhookOptions } from "../../../../src/plugins/shared/webhooks/webhook-target.js";
import { SteppingClock } from "../../../service/stepping-clock.js";
import { LoopbackSite, redirect } from "../../../support/loopback-site.js";
import { until } from "../../../support/time.js";

const SECRET = "a secret of the tests";
const BODY = '{"hello":"wörld"}';
const AT = new Date("2026-05-01T10:00:00.900Z");
const SECONDS = String(Math.floor(AT.getTime() / 1_000));

describe("signatures of webhooks", () => {
  const headers = (more: Readonly<Record<string, string>> = {}): Headers =>
    new Headers({ ...signedHeaders({ deliveryId: "d-1", body: BODY, at: AT }, SECRET), ...more });
  const problem = (o: {
    headers?: Headers;
    body?: string;
    secrets?: readonly string[];
    at?: Date;
  }): string | undefined =>
    webhookProblem(o.headers ?? headers(), o.body ?? BODY, {
      secrets: o.secrets ?? [SECRET],
      at: o.at ?? AT,
    });

  it("are the HMAC of the time in seconds, a dot and the body", () => {
    expect(Object.fromEntries(headers())).to.deep.equal({
      "x-agentensemble-delivery": "d-1",
      "x-agentensemble-timestamp": SECONDS,
      "x-agentensemble-signature": `sha256=${createHmac("sha256", SECRET)
        .update(`${SECONDS}.${BODY}`)
        .digest("hex")}`,
    });
  });

  it("are valid for their body, their time and their secret only", () => {
    expect(problem({})).to.equal(undefined);
    expect(problem({ body: `${BODY} ` })).to.equal("WRONG_SIGNATURE");
    expect(problem({ secrets: ["another secret of the tests"] })).to.equal("WRONG_SIGNATURE");
    const later = headers({ "x-agentensemble-timestamp": String(Number(SECONDS) + 1) });
    expect(problem({ headers: later })).to.equal("WRONG_SIGNATURE");
  });

  it("may be created with any of several secrets, during a change of secrets", () => {
    expect(problem({ secrets: ["another secret of the tests", SECRET] })).to.equal(undefined);
  });

  it("are valid for five minutes, in both directions", () => {
    const at = (ms: number): Date => new Date(Number(SECONDS) * 1_000 + ms);
    expect(problem({ at: at(300_000) })).to.equal(undefined);
    expect(problem({ at: at(-300_000) })).to.equal(undefined);
    expect(problem({ at: at(301_000) })).to.equal("TOO_OLD");
    expect(problem({ at: at(-301_000) })).to.equal("TOO_OLD");
    expect(problem({ at: at(3_600_000) })).to.equal("TOO_OLD");
  });

  it("are refused in any other form", () => {
    const forms: readonly Readonly<Record<string, string>>[] = [
      { "x-agentensemble-signature": "" },
      { "x-agentensemble-signature": "sha256=00" },
      { "x-agentensemble-signature": `md5=${"0".repeat(64)}` },
      { "x-agentensemble-signature": `sha256=${"g".repeat(64)}` },
      { "x-agentensemble-timestamp": "" },
      { "x-agentensemble-timestamp": "-1" },
      { "x-agentensemble-timestamp": "1e9" },
      { "x-agentensemble-timestamp": "9".repeat(13) },
    ];
    for (const form of forms) expect(problem({ headers: headers(form) })).to.equal("UNSIGNED");
    expect(problem({ headers: new Headers() })).to.equal("UNSIGNED");
  });

  it("require a secret of at least 16 characters, which errors do not show", () => {
    expect(() => requireWebhookSecret("webhook() secret", "sixteen letters!")).not.to.throw();
    for (const secret of ["fifteen letters", 7, undefined])
      expect(() => requireWebhookSecret("webhook() secret", secret))
        .to.throw(/webhook\(\) secret must have at least 16 characters/)
        .with.property("message")
        .that.does.not.contain("fifteen");
  });
});

describe("checkWebhookOptions", () => {
  const check = (options: Partial<WebhookOptions>): (() => void) => {
    const whole = { secret: SECRET, hosts: ["hooks.example.com"], ...options };
    return () => checkWebhookOptions("start() webhooks", whole);
  };

  it("accepts valid options and names the problem of invalid ones", () => {
    check({ allow: { addresses: ["10.0.0.0/8"] }, timeoutMs: 5, maxAttempts: 1 })();
    expect(check({ secret: "short" })).to.throw(/secret/);
    expect(check({ hosts: [] })).to.throw(/webhooks hosts must name the hosts/);
    expect(check({ hosts: undefined as never })).to.throw(/webhooks hosts must name the hosts/);
    expect(check({ hosts: ["http://a/b"] })).to.throw(/webhooks hosts\[0\]/);
    expect(check({ allow: { addresses: ["x"] } })).to.throw(/webhooks allow.addresses\[0\]/);
    expect(check({ timeoutMs: 0 })).to.throw(/timeoutMs/);
    expect(check({ maxAttempts: 0 })).to.throw(/maxAttempts/);
    expect(check({ attempts: 1 } as never)).to.throw(/Did you mean/);
  });
});

describe("WebhookSender", () => {
  let site: LoopbackSite;
  let statuses: number[] = [];
  let answerHeaders: Readonly<Record<string, string>> = {};
  const clock = new SteppingClock();
  const hook: Page = (_request, response) =>
    void response.writeHead(statuses.shift() ?? 200, answerHeaders).end("{}");

  before(async () => {
    site = await LoopbackSite.start({
      "/hook": hook,
      "/elsewhere": redirect(302, "/hook"),
      "/silent": (request: IncomingMessage) => void request.socket.destroy(),
      "/slow": () => undefined,
      "/large": (_request, response) => void response.end("x".repeat(100_000)),
    });
  });
  after(() => site.close());
  beforeEach(() => {
    statuses = [];
    answerHeaders = {};
    site.requests.length = 0;
  });

  const sender = (more: Partial<WebhookOptions> = {}): WebhookSender =>
    new WebhookSender(
      { secret: SECRET, hosts: ["127.0.0.1"], allow: { hosts: [site.host] }, ...more },
      clock,
    );
  const message = (path = "/hook", body = BODY) => ({
    url: site.url(path),
    deliveryId: "d-1",
    body,
  });
  const never = new AbortController().signal;
  /** The result of `work`, during which the clock advances. */
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    void work.finally(() => (isOver = true));
    await until(async () => {
      await clock.advance(1_000);
      return isOver;
    });
    return work;
  };

  it("posts a signed body", async () => {
    const outcome = await sender().send(message(), never);
    expect(outcome).to.deep.equal({ isDelivered: true, attempts: 1 });
    const [seen] = site.requests;
    expect(seen).to.include({ method: "POST", url: "/hook", body: BODY });
    expect(seen?.headers["content-type"]).to.equal("application/json");
    const headers = new Headers(seen?.headers as Record<string, string>);
    expect(headers.get("x-agentensemble-delivery")).to.equal("d-1");
    const at = clock.now();
    expect(webhookProblem(headers, BODY, { secrets: [SECRET], at })).to.equal(undefined);
  });

  it("repeats an attempt with a new signature while the receiver is unavailable", async () => {
    statuses = [500, 503, 429, 200];
    const outcome = await timed(sender().send(message(), never));
    expect(outcome).to.deep.equal({ isDelivered: true, attempts: 4 });
    const stamps = site.requests.map(({ headers }) => headers["x-agentensemble-timestamp"]);
    expect(stamps).to.have.length(4);
    expect(stamps[0]).not.to.equal(stamps[3]);
  });

  it("waits for the time in Retry-After", async () => {
    statuses = [503, 200];
    answerHeaders = { "retry-after": "20" };
    const sending = sender().send(message(), never);
    await until(() => site.requests.length === 1);
    await until(() => clock.sleepers > 0);
    await clock.advance(19_999);
    expect(site.requests.length).to.equal(1);
    await clock.advance(1);
    expect(await sending).to.deep.equal({ isDelivered: true, attempts: 2 });
  });

  it("ends after the last attempt, with its problem", async () => {
    statuses = [500, 502];
    expect(await timed(sender({ maxAttempts: 2 }).send(message(), never))).to.deep.equal({
      isDelivered: false,
      attempts: 2,
      problem: "The webhook answered with status 502",
    });
  });

  it("does not repeat a delivery after a permanent failure", async () => {
    statuses = [400];
    const outcomes = [
      await sender().send(message(), never),
      await sender().send(message("/elsewhere"), never),
      await sender().send({ ...message(), url: "ftp://example.com/" }, never),
      await sender().send({ ...message(), url: "not a url" }, never),
      await sender().send(message("/hook", "x".repeat(1_048_577)), never),
    ];
    expect(outcomes.map(({ attempts }) => attempts)).to.deep.equal([1, 1, 1, 1, 1]);
    expect(outcomes.map(({ isDelivered }) => isDelivered)).to.not.include(true);
    expect(site.requests.map(({ url }) => url)).to.deep.equal(["/hook", "/elsewhere"]);
  });

  it("connects to hosts of its list only, and to private addresses only if they are allowed", async () => {
    const others = [sender({ hosts: ["hooks.example.com"] }), sender({ allow: {} })];
    for (const other of others) {
      const outcome = await other.send(message(), never);
      expect(outcome).to.include({ isDelivered: false, attempts: 1 });
      if (!outcome.isDelivered) expect(outcome.problem).to.match(/not allowed/);
    }
    expect(site.requests).to.have.length(0);
  });

  it("limits the time of an attempt", async () => {
    const outcome = await timed(
      sender({ timeoutMs: 50, maxAttempts: 1 }).send(message("/slow"), never),
    );
    expect(outcome).to.include({ isDelivered: false, attempts: 1 });
  });

  it("ends an attempt when it is aborted", async () => {
    const ends = new AbortController();
    const sending = sender({ timeoutMs: 600_000 }).send(message("/slow"), ends.signal);
    await until(() => site.requests.length === 1);
    ends.abort();
    const outcome = await sending;
    expect(outcome).to.include({
      isDelivered: false,
      attempts: 1,
      problem: "The delivery was interrupted",
    });
  });

  it("accepts an answer of any length, and reads only its beginning", async () => {
    expect(await sender().send(message("/large"), never)).to.include({ isDelivered: true });
  });

  it("repeats after a connection that broke", async () => {
    const outcome = await timed(sender({ maxAttempts: 2 }).send(message("/silent"), never));
    expect(outcome).to.include({ isDelivered: false, attempts: 2 });
  });
});
