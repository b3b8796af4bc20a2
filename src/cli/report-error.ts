import type { OutputTerminal } from "./terminal.js";
import { AgentEnsembleError, PromptTemplateError } from "../contracts/errors.js";
import { errorRedactor } from "../contracts/redaction.js";
import { printableLine, printableText } from "../util/printable.js";
import { messageOf } from "../util/errors.js";

const MAX_LENGTH = 2_000;
const SITE = "https://agentensemble.net";

/** Returns an error and its causes, outermost first. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (
    let e: unknown = error;
    e !== undefined && e !== null && !chain.includes(e);
    e = e instanceof Error ? e.cause : undefined
  )
    chain.push(e);
  return chain;
}

/** Redacts a text and makes it safe for terminals. */
type Shown = (text: string) => string;

function shownOf(error: unknown): Shown {
  const redact = errorRedactor(error);
  return (text) => printableText(redact(text));
}

/** Returns the hints of the chain. Omits hints that only repeat a message. */
function hintsOf(chain: readonly unknown[], shown: Shown): readonly string[] {
  const messages = chain.map(messageOf);
  const hints = chain.flatMap((e) => {
    const own = AgentEnsembleError.isInstance(e) && e.hint !== undefined ? [e.hint] : [];
    if (!PromptTemplateError.isInstance(e)) return own;
    const inputs = e.missingVariables.map((name) => `--input ${name}=...`);
    return [`Give them as ${inputs.join(" ")}`, ...own];
  });
  return [...new Set(hints)]
    .filter((hint) => !messages.some((message) => hint.includes(message)))
    .map(shown);
}

/** Returns the messages of the chain. Omits messages that an outer message contains. */
function messagesOf(chain: readonly unknown[], shown: Shown): readonly string[] {
  const said: string[] = [];
  for (const e of chain) {
    const message = shown(messageOf(e));
    if (!said.some((earlier) => earlier.includes(message)))
      said.push(message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}...` : message);
  }
  return said;
}

/**
 * Returns the page about the first error of the chain. Omits the page of a ValidationError, because
 * its message is as complete.
 */
function docsOf(chain: readonly unknown[]): string | undefined {
  const error = chain.findLast((e) => AgentEnsembleError.isInstance(e));
  return error === undefined || error.code === "AE_VALIDATION" || !/^AE_[A-Z_]+$/.test(error.code)
    ? undefined
    : `${SITE}/errors/${error.code}.html`;
}

/**
 * Formats an error for people: the event, the causes, the advice. Adds stack traces only on
 * request.
 */
export function errorText(error: unknown, { paintMessage, verbose }: OutputTerminal): string {
  const chain = chainOf(error);
  const shown = shownOf(error);
  const [message = "", ...causes] = messagesOf(chain, shown);
  const code = AgentEnsembleError.isInstance(error) ? ` ${printableLine(error.code)}` : "";
  const docs = docsOf(chain);
  return [
    `${paintMessage("red", `error${code}:`)} ${message}`,
    ...causes.map((cause) => `  because: ${cause}`),
    ...hintsOf(chain, shown).map((hint) => `  ${paintMessage("cyan", "hint:")} ${hint}`),
    ...(docs === undefined ? [] : [`  ${paintMessage("cyan", "docs:")} ${docs}`]),
    ...(verbose
      ? chain.map((e) => shown(e instanceof Error ? (e.stack ?? e.message) : messageOf(e)))
      : []),
  ].join("\n");
}

/** Returns an error in the form of `--json`. */
export function errorJson(error: unknown): Readonly<Record<string, unknown>> {
  const chain = chainOf(error);
  const shown = shownOf(error);
  const [message, ...causes] = messagesOf(chain, shown);
  return {
    code: AgentEnsembleError.isInstance(error) ? error.code : null,
    name: error instanceof Error ? error.name : "Error",
    message,
    causes,
    hints: hintsOf(chain, shown),
    docs: docsOf(chain) ?? null,
  };
}
