/**
 * Formats a double. Whole numbers below 10^15 have no fraction. Other numbers have the fewest
 * digits that identify the double (`0.30000000000000004`). Of these, numbers from 10^7 upwards and
 * below 10^-3 have an exponent (`1.0E15`), as in the Java version.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  // avoids "-0"
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value === 0 ? 0 : value);
  if (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7) return String(value);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${digits.includes(".") ? digits : `${digits}.0`}E${exponent.replace("+", "")}`;
}
