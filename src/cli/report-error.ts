import type { OutputTerminal } from "./terminal.js";
import { AgentEnsembleError, PromptTemplateError } from "../contracts/errors.js";
import { errorRedactor } from "../contracts/redaction.js";
import { printableLine, printableText } from "../util/printable.js";
import { messageOf } from "../util/errors.js";

const MAX_LENGTH = 2_000;
const SITE = "https://agentensemble.net";

/** An error and those that led to it, outermost first. */
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

/** What an error and its causes say, as it may be shown: without secrets, and safe for terminals. */
type Shown = (text: string) => string;

function shownOf(error: unknown): Shown {
  const redact = errorRedactor(error);
  return (text) => printableText(redact(text));
}

/** Advice along the chain, less what only repeats a message. */
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

/** The messages of the chain, without those that an outer message contains. */
function messagesOf(chain: readonly unknown[], shown: Shown): readonly string[] {
  const said: string[] = [];
  for (const e of chain) {
    const message = shown(messageOf(e));
    if (!said.some((earlier) => earlier.includes(message)))
      said.push(message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}...` : message);
  }
  return said;
}

/** The page about the error that began the chain. Messages of ValidationError say all that its page does. */
function docsOf(chain: readonly unknown[]): string | undefined {
  const error = chain.findLast((e) => AgentEnsembleError.isInstance(e));
  return error === undefined || error.code === "AE_VALIDATION" || !/^AE_[A-Z_]+$/.test(error.code)
    ? undefined
    : `${SITE}/errors/${error.code}.html`;
}

/** An error as a person reads it: what happened, why, what to do. Stack traces only where asked for. */
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

/** An error as `--json` gives it. */
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
