/** Returns the message of any thrown value. The message is never empty. */
export function messageOf(e: unknown): string {
  const text = rawMessage(e);
  return text === "" ? (e instanceof Error ? e.name : "unknown error") : text;
}

function rawMessage(e: unknown): string {
  if (e === undefined || e === null) return "";
  try {
    const { message } = e as { readonly message?: unknown };
    return typeof message === "string" ? message : `${e as string}`; // any value can be formatted
  } catch {
    return ""; // no toString(), or an unreadable message
  }
}

/** Returns `e` if it is an Error, else an Error that wraps it. */
export function toError(e: unknown): Error {
  return e instanceof Error ? e : new Error(messageOf(e), { cause: e });
}
