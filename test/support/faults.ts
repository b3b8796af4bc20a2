import { gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import type { ModelErrorCode } from "../../src/contracts/model-error-code.js";
import type { ProviderOptions } from "../../src/plugins/providers/openai/index.js";
import type { FaultVendor } from "./fault-vendors.js";
import { eventText, type Reply, type WireAnswer } from "./model-server.js";

/** The required end of a call. */
export type FaultOutcome =
  | {
      readonly code: ModelErrorCode;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      /** Of streams only. */
      readonly partialText?: string;
    }
  | {
      readonly answer: string;
      readonly inputTokens?: number | undefined;
      readonly toolArguments?: string;
    }
  | "aborted";

/** One fault of a service, and its required result. */
export interface Fault {
  readonly what: string;
  /** The affected calls; both kinds by default. */
  readonly only?: "whole" | "stream";
  readonly outcome: FaultOutcome;
  /** The behaviour of the server; absent if the call never reaches it. */
  readonly reply?: (vendor: FaultVendor) => Reply;
  /** The URL of the call in place of the server. */
  readonly instead?: "nowhere" | "untrusted" | "unknown host";
  readonly options?: ProviderOptions;
  readonly abort?: "before" | "when received" | "after a chunk";
  /** The number of requests that the server receives. Default 1. */
  readonly requests?: number;
  /** The time limit of the call in milliseconds. Default 3000. */
  readonly withinMs?: number;
}

const SHORT = { timeoutMs: 5000, idleTimeoutMs: 80 } as const;
const TEXT = "Once upon a time";
const PAGE = "<!doctype html><html><body>Welcome</body></html>";
const BAD = { code: "AE_MODEL_BAD_RESPONSE", retryable: true } as const;
const BROKEN_OFF = { ...BAD, partialText: TEXT } as const;
const TIMEOUT = { code: "AE_MODEL_TIMEOUT", retryable: true } as const;
const SERVER = { code: "AE_MODEL_SERVER", retryable: true } as const;
const REFUSED = { code: "AE_MODEL_BAD_REQUEST", retryable: false } as const;

const raw = (
  body: string | ((vendor: FaultVendor) => string),
  more: { readonly contentType?: string; readonly announcedLength?: number } = {},
) => {
  return (vendor: FaultVendor): Reply => ({
    kind: "raw",
    body: typeof body === "string" ? body : body(vendor),
    ...more,
  });
};
const status = (
  code: number,
  type: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown } = {},
) => {
  return (vendor: FaultVendor): Reply => ({
    kind: "status",
    status: code,
    body: vendor.error("it says no", type),
    ...more,
  });
};
const answer = (words: WireAnswer | ((vendor: FaultVendor) => WireAnswer)) => {
  return (vendor: FaultVendor): Reply => ({
    kind: "answer",
    ...(typeof words === "function" ? words(vendor) : words),
  });
};
const events = (
  end: "done" | "close" | "cut" | "stall",
  list: (vendor: FaultVendor) => readonly unknown[],
) => {
  return (vendor: FaultVendor): Reply => ({ kind: "events", events: list(vendor), end });
};
const custom = (
  run: (response: ServerResponse, vendor: FaultVendor, isStream: boolean) => void,
) => {
  return (vendor: FaultVendor): Reply => ({
    kind: "custom",
    run: (response, request) => run(response, vendor, request.body["stream"] === true),
  });
};

/** A complete stream. */
function story(vendor: FaultVendor, text = TEXT): readonly unknown[] {
  return [
    ...vendor.begin(text),
    ...vendor.end,
    ...(vendor.wire.endMark === undefined ? [] : [vendor.wire.endMark]),
  ];
}

function head(
  response: ServerResponse,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { "content-type": contentType, ...more });
}

/** Sends a body in groups of bytes with pauses, and ends it by default. */
function drip(
  response: ServerResponse,
  parts: readonly (string | Buffer)[],
  everyMs: number,
  o: { readonly repeat?: boolean } = {},
): void {
  let sent = 0;
  const timer = setInterval(() => {
    const part = parts[o.repeat === true ? sent % parts.length : sent];
    if (part === undefined) response.end();
    if (part === undefined || response.destroyed) clearInterval(timer);
    else response.write(part);
    sent++;
  }, everyMs);
  response.on("close", () => clearInterval(timer));
}

function document(vendor: FaultVendor, text = TEXT): string {
  return JSON.stringify(vendor.wire.document({ text }));
}

/** For both kinds of calls, an answer that is cut at every third byte. */
function inSplinters(response: ServerResponse, vendor: FaultVendor, isStream: boolean): void {
  const text = "Größe 世界 👩‍👧";
  const bytes = Buffer.from(
    isStream ? story(vendor, text).map(eventText).join("") : document(vendor, text),
  );
  head(response, isStream ? "text/event-stream" : "application/json");
  const parts = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, index) =>
    bytes.subarray(index * 3, index * 3 + 3),
  );
  drip(response, parts, 0);
}

const CONNECTION_FAULTS: readonly Fault[] = [
  {
    what: "refused connection",
    instead: "nowhere",
    requests: 0,
    outcome: { code: "AE_MODEL_CONNECTION", retryable: true },
  },
  {
    what: "unknown host name",
    instead: "unknown host",
    requests: 0,
    outcome: { code: "AE_MODEL_CONNECTION", retryable: true },
  },
  {
    what: "untrusted certificate",
    instead: "untrusted",
    requests: 0,
    outcome: { code: "AE_MODEL_CONNECTION", retryable: false },
  },
  {
    what: "connection closed before the answer",
    reply: () => ({ kind: "reset" }),
    outcome: { code: "AE_MODEL_CONNECTION", retryable: true },
  },
  {
    what: "connection reset during the body",
    reply: custom((response) => {
      head(response, "application/json");
      response.write('{"id":', () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
    }),
    outcome: BAD,
  },
  {
    what: "stream interrupted in the middle",
    only: "stream",
    reply: events("cut", (vendor) => vendor.begin(TEXT)),
    outcome: BROKEN_OFF,
  },
];

const SILENCE_FAULTS: readonly Fault[] = [
  { what: "no answer at all", options: SHORT, reply: () => ({ kind: "hang" }), outcome: TIMEOUT },
  {
    what: "body that stalls",
    options: SHORT,
    reply: () => ({ kind: "stalled-body" }),
    outcome: TIMEOUT,
  },
  {
    what: "stream that stalls",
    only: "stream",
    options: SHORT,
    reply: events("stall", (vendor) => vendor.begin(TEXT)),
    outcome: { ...TIMEOUT, partialText: TEXT },
  },
  {
    what: "endless answer",
    options: { timeoutMs: 150, idleTimeoutMs: 5000 },
    reply: custom((response) => {
      head(response, "text/event-stream");
      drip(response, [": still here\n\n"], 10, { repeat: true });
    }),
    outcome: TIMEOUT,
  },
  {
    what: "slow answer without long pauses",
    options: { timeoutMs: 5000, idleTimeoutMs: 1000 },
    reply: custom((response, vendor, isStream) => {
      head(response, isStream ? "text/event-stream" : "application/json");
      const text = isStream ? story(vendor).map(eventText).join("") : document(vendor);
      drip(response, text.match(/[\s\S]{1,40}/g) ?? [], 5);
    }),
    outcome: { answer: TEXT },
  },
  {
    what: "complete stream whose connection stays open",
    only: "stream",
    options: { timeoutMs: 5000, idleTimeoutMs: 200 },
    reply: events("stall", (vendor) => story(vendor)),
    outcome: { answer: TEXT },
  },
  {
    what: "refusal whose body stalls",
    options: SHORT,
    reply: custom((response) => response.writeHead(503).write("{")),
    outcome: SERVER,
  },
];

const SHAPE_FAULTS: readonly Fault[] = [
  {
    what: "web page instead of an answer",
    reply: raw(PAGE, { contentType: "text/html" }),
    outcome: BAD,
  },
  { what: "empty body", reply: raw(""), outcome: BAD },
  { what: "null", reply: raw("null"), outcome: BAD },
  { what: "list", reply: raw("[]"), outcome: BAD },
  {
    what: "document without an answer",
    reply: raw((vendor) => JSON.stringify(vendor.empty)),
    outcome: BAD,
  },
  {
    what: "truncated document",
    reply: raw((vendor) => document(vendor).slice(0, 40)),
    outcome: BAD,
  },
  {
    what: "body shorter than announced",
    reply: raw('{"id":', { announcedLength: 5000 }),
    outcome: BAD,
  },
  { what: "plain text", reply: raw("Service is starting"), outcome: BAD },
  {
    what: "JSON labelled as plain text",
    reply: raw(document, { contentType: "text/plain" }),
    only: "whole",
    outcome: { answer: TEXT },
  },
  {
    what: "byte order mark before the answer",
    reply: raw((vendor) => `\uFEFF${document(vendor)}`),
    outcome: { answer: TEXT },
  },
  {
    what: "characters split between packets",
    reply: custom(inSplinters),
    outcome: { answer: "Größe 世界 👩‍👧" },
  },
  {
    what: "broken tool arguments",
    only: "stream",
    reply: answer({ toolCalls: [{ id: "c1", name: "add", arguments: '{"a": 1' }] }),
    outcome: { answer: "", toolArguments: '{"a": 1' },
  },
  {
    what: "no usage",
    reply: answer({ text: TEXT }),
    outcome: { answer: TEXT, inputTokens: undefined },
  },
  {
    what: "usage that is not a number",
    reply: answer((vendor) => ({ text: TEXT, usage: vendor.usage("many", null) })),
    outcome: { answer: TEXT, inputTokens: undefined },
  },
  {
    what: "negative usage",
    reply: answer((vendor) => ({ text: TEXT, usage: vendor.usage(-5, -1) })),
    outcome: { answer: TEXT, inputTokens: undefined },
  },
];

const SIZE_FAULTS: readonly Fault[] = [
  {
    what: "body larger than allowed",
    options: { maxResponseBytes: 100_000 },
    reply: custom((response) => {
      head(response, "application/json");
      drip(response, [`"${"x".repeat(50_000)}`], 1, { repeat: true });
    }),
    outcome: BAD,
  },
  {
    what: "body announced as larger than allowed",
    reply: raw("{", { announcedLength: 17_000_000_000 }),
    outcome: BAD,
  },
  {
    what: "small body that decompresses to a large one",
    options: { maxResponseBytes: 100_000 },
    reply: custom((response) => {
      head(response, "application/json", { "content-encoding": "gzip" });
      response.end(gzipSync(`"${"x".repeat(5_000_000)}"`));
    }),
    outcome: BAD,
  },
  {
    what: "endless line in a stream",
    only: "stream",
    reply: custom((response) => {
      head(response, "text/event-stream");
      drip(response, [`data: ${"x".repeat(200_000)}`], 1, { repeat: true });
    }),
    outcome: BAD,
  },
  {
    what: "document nested 100,000 levels deep",
    reply: raw((vendor) => vendor.wrap(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)),
    outcome: BAD,
  },
  {
    what: "event nested 1,000 levels deep",
    only: "stream",
    reply: events("done", (vendor) => [
      ...vendor.begin(TEXT),
      vendor.wrap(`${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`),
    ]),
    outcome: BROKEN_OFF,
  },
  {
    what: "document of a million parts",
    reply: raw((vendor) => vendor.wrap(`[${"{},".repeat(1_000_000)}{}]`)),
    outcome: BAD,
  },
  {
    what: "refusal with an endless body",
    reply: custom((response) => {
      response.writeHead(500);
      drip(response, ["x".repeat(50_000)], 1, { repeat: true });
    }),
    outcome: SERVER,
  },
];

const STREAM_FAULTS: readonly Fault[] = (
  [
    {
      what: "whole document in place of a stream",
      reply: raw(document),
      outcome: { answer: TEXT },
    },
    {
      what: "events with other names",
      reply: raw((vendor) => story(vendor).map(eventText).join(""), {
        contentType: "application/octet-stream",
      }),
      outcome: { answer: TEXT },
    },
    {
      what: "stream without its final event",
      reply: events("close", (vendor) => vendor.begin(TEXT)),
      outcome: BROKEN_OFF,
    },
    { what: "stream without any event", reply: events("close", () => []), outcome: BAD },
    {
      what: "event that is not JSON",
      reply: events("done", (vendor) => [...vendor.begin(TEXT), '{"choices":[{']),
      outcome: BROKEN_OFF,
    },
    {
      what: "event that is null",
      reply: events("done", (vendor) => [...vendor.begin(TEXT), "null"]),
      outcome: BROKEN_OFF,
    },
    {
      what: "error in a stream",
      reply: events("close", (vendor) => [
        ...vendor.begin(TEXT),
        vendor.error("slow down", "rate_limit_error"),
      ]),
      outcome: { code: "AE_MODEL_RATE_LIMITED", retryable: true, partialText: TEXT },
    },
    {
      what: "overload in a stream",
      reply: events("close", (vendor) => [
        ...vendor.begin(TEXT),
        vendor.error("Overloaded", "overloaded_error"),
      ]),
      outcome: { ...SERVER, partialText: TEXT },
    },
    {
      what: "final event sent twice",
      reply: events("done", (vendor) => [...vendor.begin(TEXT), ...vendor.end, ...vendor.end]),
      outcome: { answer: TEXT },
    },
    {
      what: "invalid data after the final event",
      reply: events("close", (vendor) => [...vendor.begin(TEXT), ...vendor.end, "rubbish"]),
      outcome: { answer: TEXT },
    },
    {
      what: "connection closed after the final event",
      reply: events("cut", (vendor) => [...vendor.begin(TEXT), ...vendor.end]),
      outcome: { answer: TEXT },
    },
    {
      what: "lines that end in CR LF",
      reply: raw((vendor) => story(vendor).map(eventText).join("").replaceAll("\n", "\r\n"), {
        contentType: "text/event-stream",
      }),
      outcome: { answer: TEXT },
    },
    {
      what: "lines that end in CR",
      reply: raw((vendor) => story(vendor).map(eventText).join("").replaceAll("\n", "\r"), {
        contentType: "text/event-stream",
      }),
      outcome: { answer: TEXT },
    },
    {
      what: "comments and unknown fields between events",
      reply: raw(
        (vendor) =>
          `: hello\nretry: 100\n\n${story(vendor)
            .map((event) => `event: x\nid: 7\n${eventText(event)}:\n\n`)
            .join("")}`,
        {
          contentType: "text/event-stream",
        },
      ),
      outcome: { answer: TEXT },
    },
  ] satisfies readonly Fault[]
).map((fault: Fault): Fault => ({ ...fault, only: "stream" }));

const STATUS_FAULTS: readonly Fault[] = [
  {
    what: "status 302",
    reply: status(302, "x", { headers: { location: "http://127.0.0.1:9/" } }),
    outcome: { ...BAD, retryable: false },
  },
  { what: "status 400", reply: status(400, "invalid_request_error"), outcome: REFUSED },
  {
    what: "status 400, conversation too long",
    reply: status(400, "context_length_exceeded"),
    outcome: { code: "AE_MODEL_CONTEXT_LENGTH", retryable: false },
  },
  {
    what: "status 401",
    reply: status(401, "authentication_error"),
    outcome: { code: "AE_MODEL_AUTH", retryable: false },
  },
  {
    what: "status 402",
    reply: status(402, "payment"),
    outcome: { code: "AE_MODEL_QUOTA", retryable: false },
  },
  {
    what: "status 403",
    reply: status(403, "permission_error"),
    outcome: { code: "AE_MODEL_AUTH", retryable: false },
  },
  { what: "status 404", reply: status(404, "not_found_error"), outcome: REFUSED },
  { what: "status 408", reply: status(408, "timeout_error"), outcome: TIMEOUT },
  { what: "status 409", reply: status(409, "conflict"), outcome: SERVER },
  { what: "status 413", reply: status(413, "request_too_large"), outcome: REFUSED },
  {
    what: "status 429",
    reply: status(429, "rate_limit_error"),
    outcome: { code: "AE_MODEL_RATE_LIMITED", retryable: true },
  },
  {
    what: "status 429, Retry-After in seconds",
    reply: status(429, "rate_limit_error", { headers: { "retry-after": "7" } }),
    outcome: { code: "AE_MODEL_RATE_LIMITED", retryable: true, retryAfterMs: 7000 },
  },
  {
    what: "status 429, Retry-After in milliseconds",
    reply: status(429, "rate_limit_error", {
      headers: { "retry-after-ms": "250", "retry-after": "1" },
    }),
    outcome: { code: "AE_MODEL_RATE_LIMITED", retryable: true, retryAfterMs: 250 },
  },
  {
    what: "status 429, Retry-After as a date",
    reply: status(429, "rate_limit_error", {
      headers: {
        date: "Sat, 21 Nov 2026 10:00:00 GMT",
        "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT",
      },
    }),
    outcome: { code: "AE_MODEL_RATE_LIMITED", retryable: true, retryAfterMs: 30_000 },
  },
  {
    what: "account without credit",
    reply: (vendor) => ({ kind: "status", ...vendor.quota }),
    outcome: { code: "AE_MODEL_QUOTA", retryable: false },
  },
  { what: "status 500", reply: status(500, "api_error"), outcome: SERVER },
  { what: "status 501", reply: status(501, "api_error"), outcome: { ...SERVER, retryable: false } },
  { what: "status 502 with a web page", reply: status(502, "x", { body: PAGE }), outcome: SERVER },
  {
    what: "status 503 without a body",
    reply: status(503, "x", { body: undefined }),
    outcome: SERVER,
  },
  { what: "status 529", reply: status(529, "overloaded_error"), outcome: SERVER },
  {
    what: "status 200 with an error",
    reply: (vendor) => ({ kind: "raw", body: JSON.stringify(vendor.error("down", "api_error")) }),
    outcome: SERVER,
  },
];

const ABORT_FAULTS: readonly Fault[] = [
  {
    what: "abort before the call",
    abort: "before",
    reply: answer({ text: TEXT }),
    requests: 0,
    outcome: "aborted",
    withinMs: 300,
  },
  {
    what: "abort while waiting for the answer",
    abort: "when received",
    reply: () => ({ kind: "hang" }),
    outcome: "aborted",
  },
  {
    what: "abort during the body",
    abort: "when received",
    reply: () => ({ kind: "stalled-body" }),
    outcome: "aborted",
  },
  {
    what: "abort while a refusal's body stalls",
    abort: "when received",
    reply: custom((response) => response.writeHead(500).write("{")),
    outcome: "aborted",
  },
  {
    what: "abort during a stream",
    only: "stream",
    abort: "after a chunk",
    reply: events("stall", (vendor) => vendor.begin(TEXT)),
    outcome: "aborted",
  },
];

/** All faults, under the headings of `docs/faults.md`. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  Connections: CONNECTION_FAULTS,
  Silence: SILENCE_FAULTS,
  "Unexpected answers": SHAPE_FAULTS,
  Sizes: SIZE_FAULTS,
  Streams: STREAM_FAULTS,
  Refusals: STATUS_FAULTS,
  Aborting: ABORT_FAULTS,
};
