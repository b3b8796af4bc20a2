/**
 * Formats a duration as ISO-8601 text in the form of `java.time`. Hours are the largest unit. Zero
 * parts are omitted. `PT0S` is zero. Rounded to microseconds.
 */
export function isoDuration(ms: number): string {
  if (!(ms > 0) || !Number.isFinite(ms)) return "PT0S";
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1_000_000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const fraction = String(micros % 1_000_000)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const rest = `${seconds % 60}${fraction === "" ? "" : `.${fraction}`}`;
  const parts = `${hours > 0 ? `${hours}H` : ""}${minutes > 0 ? `${minutes}M` : ""}${rest === "0" ? "" : `${rest}S`}`;
  return parts === "" ? "PT0S" : `PT${parts}`;
}
