/** Formats a duration: `640 ms`, `41.8 s`, `2:51`, `1:02:05`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  return clockOf(Math.round(ms / 1_000));
}

/** Formats the remaining time in full seconds: `0:42`, `3:12`, `1:00:00`. */
export function formatRest(ms: number): string {
  return clockOf(Math.max(0, Math.ceil(ms / 1_000)));
}

function clockOf(seconds: number): string {
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Formats a count: `61`, `1,204`, `38.2 k`, `1.92 M`. */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString("en");
  if (count < 999_950) return `${(count / 1_000).toFixed(1)} k`;
  return `${(count / 1_000_000).toFixed(2)} M`;
}

/**
 * Formats a cost: `$0.094`, `€14.02`. Without a currency, formats only the number. Small amounts
 * have two significant digits.
 */
export function formatCost(cost: number, currency: string | undefined): string {
  const digits = cost === 0 || cost >= 1 ? 2 : Math.min(8, Math.max(3, leadingZeros(cost) + 2));
  const amount = cost.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1");
  const sign = { USD: "$", EUR: "€", GBP: "£" }[currency ?? ""];
  if (sign !== undefined) return `${sign}${amount}`;
  return currency === undefined ? amount : `${amount} ${currency}`;
}

function leadingZeros(fraction: number): number {
  return Math.max(0, -Math.floor(Math.log10(fraction)) - 1);
}

/**
 * Formats the age of an instant: `12 s ago`, `3 min ago`, `2 h ago`. Formats the date if the age
 * exceeds a day.
 */
export function formatAgo(thenMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - thenMs) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return new Date(thenMs).toLocaleDateString();
}

/** Formats the time of day in the language of the browser, with seconds. */
export function formatTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString(undefined, { hour12: false });
}

/** Formats a size: `640 B`, `2.4 kB`, `1.3 MB`. */
export function formatBytes(length: number): string {
  if (length < 1_000) return `${length} B`;
  return length < 1_000_000
    ? `${(length / 1_000).toFixed(1)} kB`
    : `${(length / 1_000_000).toFixed(1)} MB`;
}

/** Formats a count with a noun: `1 task`, `2 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
