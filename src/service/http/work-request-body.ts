import type { Principal } from "../../contracts/http-route.js";
import type { SharedCapability, WorkRequest } from "../../contracts/network.js";
import type { Fields } from "../../util/objects.js";
import { ValidationError } from "../../contracts/errors.js";
import { WORK_VERSION } from "../../contracts/network.js";
import { checkOptions, knownNames, preview } from "../../contracts/validation.js";
import { HttpRefusal, badRequest } from "../../plugins/shared/http/http-refusal.js";
import { callersCache, outsideProblem } from "../../plugins/network/shared/outside-fields.js";
import { checkWorkRequest } from "../../plugins/network/shared/work-request.js";

/** The fields of a request that callers may set. */
const FIELDS = [
  ...["task", "context", "inputs", "priority", "deadlineMs", "budget", "cache"],
  ...["delivery", "path", "version"],
];
const LONGEST_KEY = 200;

/** The fields of a request in addition to its body. */
export interface WorkRequestOrigin {
  readonly headers: Headers;
  readonly principal: Principal;
  readonly ensemble: string;
  readonly capabilities: readonly SharedCapability[];
  /** Whether the service sends results to webhooks. */
  readonly hasWebhooks: boolean;
  /** Returns the id of a request: from its `Idempotency-Key`, or a new id. */
  idOf(key: string | undefined): string;
}

/**
 * Parses the request in a body.
 * @throws HttpRefusal 400 for an invalid field; 403 for a name that the caller may not use; 404 for
 * a name that is not shared.
 */
export function workRequestIn(body: Fields, origin: WorkRequestOrigin): WorkRequest {
  const { headers, principal, ensemble } = origin;
  try {
    checkOptions("the request", body, FIELDS);
    const { type } = requestedCapability(body["task"], origin);
    const problem = outsideProblem(body, origin);
    if (problem !== undefined) throw badRequest(problem);
    const traceparent = headers.get("traceparent");
    const tracestate = headers.get("tracestate");
    const request: Fields = {
      ...body,
      v: WORK_VERSION,
      requestId: origin.idOf(idempotencyKey(headers)),
      from: principal.name,
      to: ensemble,
      type,
      ...callersCache(body["cache"], principal.name),
      ...(traceparent !== null && {
        traceContext: { traceparent, ...(tracestate !== null && { tracestate }) },
      }),
    };
    checkWorkRequest(request);
    return request;
  } catch (error) {
    throw ValidationError.isInstance(error) ? badRequest(error.message) : error;
  }
}

function requestedCapability(
  task: unknown,
  { principal, capabilities }: WorkRequestOrigin,
): SharedCapability {
  const { may } = principal;
  const allowed = capabilities.filter(({ name }) => may === undefined || may.includes(name));
  if (typeof task !== "string") throw badRequest(`task must be a text, got: ${preview(task)}`);
  const found = capabilities.find(({ name }) => name === task);
  if (found !== undefined && allowed.includes(found)) return found;
  if (found !== undefined) throw new HttpRefusal(403, "DENIED", `You may not request '${task}'`);
  const names = allowed.map(({ name }) => name);
  throw new HttpRefusal(
    404,
    "UNKNOWN",
    `Nothing is shared as '${task}'. ${knownNames(task, names)}`,
  );
}

function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (key.trim() === "" || key.length > LONGEST_KEY)
    throw badRequest(`Idempotency-Key must have 1 to ${LONGEST_KEY} characters`);
  return key;
}
