/**
 * A double as text: whole numbers below 10^15 without a fraction, others with the fewest digits that tell the double apart (`0.30000000000000004`).
 * From 10^7 on and below 10^-3 these have an exponent (`1.0E15`), as in the Java version.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value === 0 ? 0 : value); // no "-0"
  if (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7) return String(value);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${digits.includes(".") ? digits : `${digits}.0`}E${exponent.replace("+", "")}`;
}
