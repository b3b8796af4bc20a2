import type { ThreadQuery, TurnQuery } from "../../../contracts/conversation.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";

const MAX_ID_LENGTH = 256;
const MAX_LIST = 100;

/**
 * Checks the id of a thread.
 * @throws ValidationError for an id that is not a text of 1 to 256 characters without control
 * characters.
 */
export function checkThreadId(threadId: unknown): asserts threadId is string {
  if (
    typeof threadId !== "string" ||
    threadId === "" ||
    threadId.length > 2 * MAX_ID_LENGTH ||
    (threadId.length > MAX_ID_LENGTH && [...threadId].length > MAX_ID_LENGTH) ||
    /\p{Cc}|\p{Surrogate}/u.test(threadId)
  )
    throw new ValidationError(
      `A thread id must be text of 1 to ${MAX_ID_LENGTH} characters without control characters, got: ${preview(threadId, 60)}`,
    );
}

/**
 * Checks an owner.
 * @throws ValidationError for an owner that is not a text of 1 to 256 characters without control
 * characters.
 */
export function checkOwner(owner: unknown): void {
  if (owner === undefined) return;
  const isOwner =
    typeof owner === "string" &&
    owner.trim() !== "" &&
    owner.length <= 2 * MAX_ID_LENGTH &&
    !/\p{Cc}|\p{Surrogate}/u.test(owner);
  if (!isOwner)
    throw new ValidationError(
      `The owner of a thread must be text of at most ${2 * MAX_ID_LENGTH} characters without control characters, got: ${preview(owner, 60)}`,
    );
}

/** Checks the query of turns. @throws ValidationError */
export function checkTurnQuery(query: TurnQuery): void {
  checkOptions("read()", query, ["limit", "before"]);
  requireInteger("read() limit", query.limit ?? Number.NaN, 1);
  requireInteger("read() before", query.before, 0);
}

/** Returns the limit of a list. @throws ValidationError */
export function checkThreadQuery(query: ThreadQuery): number {
  checkOptions("list()", query, ["owner", "limit", "after"]);
  checkOwner(query.owner);
  const { limit = MAX_LIST } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIST)
    throw new ValidationError(`list() limit must be from 1 to ${MAX_LIST}, got: ${preview(limit)}`);
  return limit;
}
