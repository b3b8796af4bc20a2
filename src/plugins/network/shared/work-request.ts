import { createHash } from "node:crypto";
import type { WorkRequest } from "../../../contracts/network.js";
import { ValidationError } from "../../../contracts/errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import {
  preview,
  requireArray,
  requireDuration,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";
import { jsonOf } from "../../shared/json-data.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { deepFreeze, isObject } from "../../../util/objects.js";

/** Priorities in descending order. The index is the rank. */
const PRIORITIES = Object.freeze(["CRITICAL", "HIGH", "NORMAL", "LOW"] as const);

const LONGEST_ID = 200;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Returns the rank of a request: 0 for CRITICAL to 3 for LOW. */
export function priorityRank({ priority }: Pick<WorkRequest, "priority">): number {
  return PRIORITIES.indexOf(priority ?? "NORMAL");
}

/**
 * Checks an id.
 * @throws ValidationError unless `id` has 1 to 200 characters and no control characters.
 */
export function requireRequestId(id: unknown): void {
  if (typeof id === "string" && id !== "" && id.length <= LONGEST_ID && !CONTROL.test(id)) return;
  throw new ValidationError(
    `requestId must have 1 to ${LONGEST_ID} characters and no control characters, got: ${preview(id)}`,
  );
}

/**
 * Checks the fields of a request that the framework reads. Accepts unknown fields.
 * @throws ValidationError with the first invalid field.
 */
export function checkWorkRequest(value: unknown): asserts value is WorkRequest {
  if (!isObject(value))
    throw new ValidationError(`A request must be an object, got: ${preview(value)}`);
  if (value["v"] !== WORK_VERSION)
    throw new ValidationError(
      `v of a request must be ${WORK_VERSION}, got: ${preview(value["v"])}`,
    );
  requireRequestId(value["requestId"]);
  for (const field of ["from", "to", "task"])
    requireText(
      value[field],
      `${field} of a request must be a text that is not blank, got: ${preview(value[field])}`,
    );
  if (value["type"] === undefined)
    throw new ValidationError("type of a request must be TASK, TOOL or RUN, got: undefined");
  requireOneOf("type of a request", value["type"], ["TASK", "TOOL", "RUN"]);
  requireOneOf("priority of a request", value["priority"], PRIORITIES);
  requireDuration("deadlineMs of a request", value["deadlineMs"]);
  requireOneOf("reviews of a request", value["reviews"], ["forward"]);
  requireArray("path of a request", value["path"]);
  checkDelivery(value["delivery"]);
  for (const field of ["context", "version"])
    if (value[field] !== undefined && typeof value[field] !== "string")
      throw new ValidationError(
        `${field} of a request must be a text, got: ${preview(value[field])}`,
      );
  for (const field of ["inputs", "budget", "cache", "delivery", "traceContext"])
    if (value[field] !== undefined && !isObject(value[field]))
      throw new ValidationError(
        `${field} of a request must be an object, got: ${preview(value[field])}`,
      );
}

function checkDelivery(delivery: unknown): void {
  if (!isObject(delivery)) return; // checked with the other objects
  const { method, address } = delivery;
  if (method === undefined) throw new ValidationError("delivery of a request must have a method");
  requireOneOf("delivery.method of a request", method, ["STORE", "WEBHOOK", "TOPIC", "NONE"]);
  if (method === "WEBHOOK" || method === "TOPIC")
    requireText(address, `delivery.address of a request must be a text, got: ${preview(address)}`);
}

/**
 * Copies a request as a storage would return it.
 * @throws ValidationError if it has no JSON form.
 */
export function copiedRequest(request: WorkRequest): WorkRequest {
  return deepFreeze(JSON.parse(jsonOf("A request", request)) as WorkRequest); // already checked
}

/** Returns a text that is equal for two requests if and only if they request the same work. */
export function workFingerprint({ to, type, task, context, inputs }: WorkRequest): string {
  return createHash("sha256")
    .update(canonicalJson([to, type, task, context, inputs]))
    .digest("base64url");
}
