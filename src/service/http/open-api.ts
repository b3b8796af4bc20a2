import type { Fields } from "../../util/objects.js";
import type { CatalogueEntry, SharedCapability } from "../../contracts/network.js";

/** The data that a document depends on, in addition to the entry of its service. */
export interface OpenApiSettings {
  /** The address of the service. */
  readonly baseUrl: string;
  readonly needsToken: boolean;
  readonly hasWebhooks: boolean;
}

const TEXT = Object.freeze({ type: "string" });
const WHOLE = Object.freeze({ type: "integer", minimum: 1 });
const POSITIVE = Object.freeze({ type: "number", exclusiveMinimum: 0 });

/**
 * Returns the OpenAPI 3.1 document of the routes of callers. Contains one form of request for each
 * shared task and tool.
 */
export function openApiOf(entry: CatalogueEntry, settings: OpenApiSettings): Fields {
  const { ensemble, description, capabilities } = entry;
  const { baseUrl, needsToken, hasWebhooks } = settings;
  const common = commonFields(hasWebhooks);
  return {
    openapi: "3.1.0",
    info: { title: ensemble, version: "1", ...(description !== undefined && { description }) },
    servers: [{ url: baseUrl }],
    ...(needsToken && { security: [{ bearer: [] }] }),
    paths: { "/api/work": { post: POST }, "/api/work/{id}": { get: GET } },
    components: {
      schemas: {
        Request: { oneOf: capabilities.map((one) => requestSchema(one, common)) },
        Receipt: RECEIPT,
        Response: RESPONSE,
        Refusal: objectOf({ error: TEXT, message: TEXT }, ["error", "message"]),
      },
      ...(needsToken && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
    },
  };
}

/**
 * Returns the schema of requests for one task or tool. If the inputs have no schema, it accepts a
 * text.
 */
function requestSchema(
  { name, description, inputSchema }: SharedCapability,
  common: Fields,
): Fields {
  // `inputSchema` is a JSON Schema.
  const inputs = inputSchema as { readonly required?: readonly unknown[] } | undefined;
  const required = inputs === undefined ? ["context"] : inputs.required?.length ? ["inputs"] : [];
  return {
    ...objectOf({ task: { const: name }, ...common, inputs: inputs ?? { type: "object" } }, [
      "task",
      ...required,
    ]),
    title: name,
    description,
    additionalProperties: false,
  };
}

function commonFields(hasWebhooks: boolean): Fields {
  const methods = ["STORE", "NONE", ...(hasWebhooks ? ["WEBHOOK"] : [])];
  return {
    context: TEXT,
    priority: { enum: ["CRITICAL", "HIGH", "NORMAL", "LOW"] },
    deadlineMs: { ...POSITIVE, description: "Milliseconds from the acceptance" },
    budget: objectOf({ maxTokens: WHOLE, maxCost: POSITIVE, currency: TEXT }),
    cache: objectOf(
      { policy: { enum: ["USE_CACHED", "FORCE_FRESH"] }, key: TEXT, maxAgeMs: POSITIVE },
      ["policy", "key", "maxAgeMs"],
    ),
    delivery: objectOf({ method: { enum: methods }, address: TEXT }, ["method"]),
    path: { type: "array", items: TEXT },
    version: TEXT,
  };
}

function objectOf(properties: Fields, required: readonly string[] = []): Fields {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

const RECEIPT = objectOf(
  { requestId: TEXT, status: { enum: ["ACCEPTED", "DUPLICATE", "QUEUED", "LEASED"] } },
  ["requestId", "status"],
);

const RESPONSE = objectOf(
  {
    v: { const: 1 },
    requestId: TEXT,
    status: { enum: ["COMPLETED", "FAILED", "REJECTED", "CANCELLED"] },
    result: { ...TEXT, description: "The output as text" },
    parsed: { description: "The structured output" },
    truncated: { const: true },
    error: TEXT,
    reason: TEXT,
    retryAfterMs: { type: "number" },
    durationMs: { type: "number" },
    attempt: WHOLE,
    servedBy: TEXT,
    usage: { type: "array", items: { type: "object" } },
  },
  ["v", "requestId", "status", "durationMs"],
);

const jsonResponse = (description: string, schema: string, more: Fields = {}): Fields => ({
  description,
  content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } }, ...more },
});

const refusals = (texts: Readonly<Record<number, string>>): Fields =>
  Object.fromEntries(
    Object.entries(texts).map(([status, text]) => [status, jsonResponse(text, "Refusal")]),
  );

const EVENTS = { "text/event-stream": { schema: TEXT } };

const POST = Object.freeze({
  operationId: "request",
  summary: "Requests a shared task or tool",
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      description: "Makes the request safe to repeat",
      schema: { ...TEXT, minLength: 1, maxLength: 200 },
    },
  ],
  requestBody: {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Request" } } },
  },
  responses: {
    202: jsonResponse("Accepted, or known with the same content", "Receipt"),
    ...refusals({
      400: "Invalid",
      401: "No valid token",
      403: "The caller may not request it",
      404: "Not shared",
      409: "The key is known with other content",
      413: "Too large",
      429: "Too many requests, or the quota of the caller is used; see Retry-After",
      503: "Not now; see Retry-After",
    }),
  },
});

const GET = Object.freeze({
  operationId: "result",
  summary: "Returns the result of a request, or follows it",
  parameters: [
    { name: "id", in: "path", required: true, schema: TEXT },
    {
      name: "waitMs",
      in: "query",
      description: "Milliseconds to wait for the result, at most 60,000",
      schema: { type: "number", minimum: 0 },
    },
  ],
  responses: {
    200: jsonResponse("The result; as events also the progress", "Response", EVENTS),
    202: jsonResponse("No result yet", "Receipt"),
    ...refusals({
      400: "Invalid",
      401: "No valid token",
      404: "Unknown",
      429: "Too many streams",
      503: "Not now",
    }),
  },
});
