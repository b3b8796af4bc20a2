/** The message of anything that was thrown; never empty. */
export function messageOf(e: unknown): string {
  const text = rawMessage(e);
  return text === "" ? (e instanceof Error ? e.name : "unknown error") : text;
}

function rawMessage(e: unknown): string {
  if (e === undefined || e === null) return "";
  try {
    const { message } = e as { readonly message?: unknown };
    return typeof message === "string" ? message : `${e as string}`; // any value: objects print themselves
  } catch {
    return ""; // an object without toString(), or whose message can't be read
  }
}

/** `e` itself when it is an Error, else an Error that carries it. */
export function toError(e: unknown): Error {
  return e instanceof Error ? e : new Error(messageOf(e), { cause: e });
}
