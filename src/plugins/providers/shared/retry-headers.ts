/**
 * Header with a waiting time in milliseconds. Some vendors send it in addition to the standard
 * header because it is more precise.
 */
const MILLISECONDS_HEADER = "retry-after-ms";

function parseNumber(text: string | null): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}

/**
 * Returns the requested waiting time of a response in milliseconds. Returns `undefined` for a
 * missing or invalid value. A date is compared with the response's own `Date`, so a wrong local
 * clock has no effect.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const milliseconds = parseNumber(headers.get(MILLISECONDS_HEADER));
  if (milliseconds !== undefined) return Math.ceil(milliseconds);
  const value = headers.get("retry-after");
  const seconds = parseNumber(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const until = value === null ? Number.NaN : Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get("date") ?? "");
  const now = Number.isNaN(sent) ? performance.timeOrigin + performance.now() : sent;
  return Math.max(0, Math.ceil(until - now));
}

/**
 * Whether a response requests a retry. The clients of the vendors use the same header. Returns
 * `undefined` if it is missing.
 */
export function shouldRetry(headers: Headers): boolean | undefined {
  const value = headers.get("x-should-retry");
  return value === "true" ? true : value === "false" ? false : undefined;
}
