const CUT = "[REDACTED]";
const FAILED = "[not shown: the redact function failed]";
const LIMIT = 16_384;

/** Keys and tokens by the shapes that vendors give them; written so that no text takes more than linear time. */
const SHAPES = [
  String.raw`\bsk-[\w-]{16,}`,
  String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
  String.raw`\bgh[pousr]_\w{20,}`,
  String.raw`\bxox[abeoprs]-[\w-]{10,}`,
  String.raw`\bAIza[\w-]{30,}`,
  String.raw`(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}`,
  String.raw`\bBearer\s+[\w.~+/=-]{12,}`,
  String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)`,
];

/** Values of the environment that are secret by their name. */
function secretsIn(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value]) => /(?:KEY|TOKEN|SECRET|PASSWORD)$/i.test(name) && (value ?? "").length >= 8)
    .map(([, value]) => (value ?? "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .sort((a, b) => b.length - a.length);
}

/** What every text goes through before it stands on a span: no keys, then the user's own rule, then cut at 16,384 characters. Fails closed. */
export function redactor(
  own: ((text: string) => string) | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  failed: (error: unknown) => void,
): (text: string) => string {
  const secrets = new RegExp([...secretsIn(environment), ...SHAPES].join("|"), "g");
  return (text) => {
    const clean = text.replace(secrets, CUT);
    try {
      const shown: unknown = own === undefined ? clean : own(clean);
      if (typeof shown !== "string") throw new TypeError("otel redact must return a text");
      return shown.length > LIMIT ? `${shown.slice(0, LIMIT)}...` : shown;
    } catch (error) {
      failed(error);
      return FAILED;
    }
  };
}
