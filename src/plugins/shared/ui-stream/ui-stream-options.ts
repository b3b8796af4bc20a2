import type { UIStreamOptions } from "../../../contracts/ui-stream.js";
import {
  checkOptions,
  requireBoolean,
  requireFunction,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";

const UI_OPTIONS = [
  "text",
  "reasoning",
  "data",
  "sources",
  "tools",
  "messageId",
  "metadata",
  "onError",
  "onDisconnect",
  "endAtApproval",
];

/**
 * Checks the options of a stream. `what` names the owner of the options in the error. `more` lists
 * further allowed options.
 * @throws ValidationError for an unknown or invalid option.
 */
export function checkUIStreamOptions(
  what: string,
  o: UIStreamOptions,
  more: readonly string[] = [],
): void {
  checkOptions(what, o, [...UI_OPTIONS, ...more]);
  if (typeof o.text !== "function") requireOneOf(`${what} text`, o.text, ["answer", "all"]);
  requireBoolean(`${what} reasoning`, o.reasoning);
  requireBoolean(`${what} data`, o.data);
  requireBoolean(`${what} sources`, o.sources);
  requireOneOf(`${what} tools`, o.tools, ["full", "names", "none"]);
  if (o.messageId !== undefined)
    requireText(o.messageId, `${what} messageId must not be blank when set`);
  requireFunction(`${what} metadata`, o.metadata);
  requireFunction(`${what} onError`, o.onError);
  requireOneOf(`${what} onDisconnect`, o.onDisconnect, ["cancel", "finish"]);
  requireBoolean(`${what} endAtApproval`, o.endAtApproval);
}
