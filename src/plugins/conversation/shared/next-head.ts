import type { StoredTurn, ThreadChange, ThreadHead } from "../../../contracts/conversation.js";
import { ConversationConflictError } from "../../../contracts/conversation-errors.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import { checkOwner } from "./checks.js";

const FIELDS = ["expectedVersion", "keep", "turns", "summary", "owner", "title", "agentRole"];

/**
 * Returns the head of a thread after a change.
 * @throws ConversationConflictError for another version; ValidationError for an inconsistent
 * change.
 */
export function nextHead(
  id: string,
  head: ThreadHead | undefined,
  change: ThreadChange,
  now: Date,
): ThreadHead {
  checkOptions("append()", change, FIELDS);
  const { expectedVersion, turns = [] } = change;
  requireInteger("append() expectedVersion", expectedVersion ?? Number.NaN, 0);
  if ((head?.version ?? 0) !== expectedVersion)
    throw new ConversationConflictError(id, expectedVersion);
  checkNewOwner(head, change);
  const kept = keptTurns(head?.turns ?? 0, change);
  checkNumbers(kept, turns);
  return Object.freeze({
    id,
    version: expectedVersion + 1,
    turns: kept + turns.length,
    ...changedFields(head, change, kept),
    ...times(head, now.toISOString()),
  });
}

function checkNewOwner(head: ThreadHead | undefined, { owner }: ThreadChange): void {
  checkOwner(owner);
  if (head !== undefined && owner !== undefined && owner !== head.owner)
    throw new ValidationError("append() owner can't be changed: it is set with version 0");
}

/** Returns the optional fields that have a value. */
function changedFields(
  head: ThreadHead | undefined,
  change: ThreadChange,
  kept: number,
): Pick<ThreadHead, "owner" | "title" | "summary" | "agentRole"> {
  const owner = change.owner ?? head?.owner;
  const title = change.title ?? head?.title;
  const summary = change.summary ?? keptSummary(head, kept);
  const agentRole = change.agentRole ?? change.turns?.at(-1)?.agentRole ?? head?.agentRole;
  return {
    ...(owner !== undefined && { owner }),
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(agentRole !== undefined && { agentRole }),
  };
}

/** Returns the summary of a thread if the thread still has all summarized turns. */
function keptSummary(head: ThreadHead | undefined, kept: number): ThreadHead["summary"] {
  const summary = head?.summary;
  return summary !== undefined && summary.upTo < kept ? summary : undefined;
}

/** Returns the times of a thread. A clock that is set back does not change the order of threads. */
function times(
  head: ThreadHead | undefined,
  at: string,
): Pick<ThreadHead, "createdAt" | "updatedAt"> {
  if (head === undefined) return { createdAt: at, updatedAt: at };
  return { createdAt: head.createdAt, updatedAt: head.updatedAt > at ? head.updatedAt : at };
}

function keptTurns(count: number, { keep }: ThreadChange): number {
  requireInteger("append() keep", keep, 0);
  return Math.min(keep ?? count, count);
}

function checkNumbers(first: number, turns: readonly StoredTurn[]): void {
  turns.forEach((turn, index) => {
    if (turn?.v !== 1 || turn.n !== first + index)
      throw new ValidationError(
        `append() turns[${index}] must have v 1 and n ${first + index}, got: ${preview(turn, 60)}`,
      );
  });
}
