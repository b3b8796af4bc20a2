import { REDACTED } from "../json/to-json-value.js";

// Every pattern takes linear time: no part can match again within text that another part has read.

const SECRET_FIELD =
  /(?:^pwd|passw(?:or)?d|passphrase|secret|token|apikey|accesskey|accesskeyid|privatekey|authorization|cookies?|credentials?)$/;
const SECRET_VARIABLE =
  /API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET|TOKEN(?!S|IZ)|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL/;
/** Variables with the location of a secret, or with an amount. */
const NO_SECRET = /_(?:FILE|PATH|DIR|URL|URI|NAME|LIMIT|COUNT|TTL)$/;

/** Returns whether a field with this name contains a secret. Counts (`inputTokens`) do not. */
export function isSecretField(name: string): boolean {
  return name.length <= 100 && SECRET_FIELD.test(name.toLowerCase().replace(/[^a-z0-9]/g, ""));
}

/** Returns whether an environment variable with this name contains a secret. */
export function isSecretVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_VARIABLE.test(upper) && !NO_SECRET.test(upper);
}

/**
 * Key formats of vendors: OpenAI and Anthropic, AWS, GitHub, GitLab, Slack, Google, Hugging Face,
 * npm, Stripe, JSON web tokens, PEM blocks.
 */
const KEYS = new RegExp(
  [
    /\b[rs]k[-_][A-Za-z0-9_-]{16,}/,
    /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
    /\bgh[oprsu]_[A-Za-z0-9]{20,}/,
    /\bgithub_pat_[A-Za-z0-9_]{20,}/,
    /\bglpat-[A-Za-z0-9_-]{16,}/,
    /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
    /\bAIza[A-Za-z0-9_-]{30,}/,
    /\bhf_[A-Za-z0-9]{20,}/,
    /\bnpm_[A-Za-z0-9]{30,}/,
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/**
 * The places of secrets: `Authorization` and similar headers (the scheme is kept), `user:password@`
 * of a URL, and `key=value`.
 */
const BEARER = /\b(bearer\s{1,4})(?=[A-Za-z0-9._~+/-]{0,400}[0-9])[A-Za-z0-9._~+/-]{8,}=*/gi;
const HEADER =
  /\b((?:proxy-)?authorization"?\s{0,4}[:=]\s{0,4}"?(?:basic|digest|token|negotiate|apikey)\s{1,4})[^\s"',]{4,}/gi;
const COOKIE = /\b((?:set-)?cookie\s{0,4}:\s{0,4})[^\s=;"]{1,200}=[^\r\n"]*/gi;
const ADDRESS = /(:\/\/)[^\s/:@"]{0,256}:[^\s/@"]{1,256}@/g;
const ASSIGNMENT =
  /((?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|token)=)[^\s&;,"'<>()\\]{4,}/gi;
const KEY_HEADER = /\b(x-(?:api-key|auth-token)\s{0,4}[:=]\s{0,4})[^\s"',]{4,}/gi;

/** A field of a JSON object inside a text, plain or escaped. */
const FIELD = /"([A-Za-z0-9_. -]{1,64})"(\s{0,8}:\s{0,8})"((?:[^"\\]|\\.)*)"/g;
const INNER_FIELD =
  /\\"([A-Za-z0-9_. -]{1,64})\\"(\s{0,8}:\s{0,8})\\"((?:[^"\\]|\\\\(?:\\.|[^\\]))*)\\"/g;

function withoutFields(text: string): string {
  const plain = text.replace(FIELD, (all, name: string, colon: string, value: string) =>
    value !== "" && isSecretField(name) ? `"${name}"${colon}"${REDACTED}"` : all,
  );
  if (!plain.includes('\\"')) return plain;
  return plain.replace(INNER_FIELD, (all, name: string, colon: string, value: string) =>
    value !== "" && isSecretField(name) ? `\\"${name}\\"${colon}\\"${REDACTED}\\"` : all,
  );
}

/**
 * Matches the beginning or a part of each text that the patterns above replace. Most texts contain
 * none of these.
 */
const HINTS =
  /["=]|:\/\/|[rs]k[-_]|akia|asia|gh[oprsu]_|github_pat_|glpat-|xox|aiza|hf_|npm_|eyj|-----begin|bearer|authorization|x-a/i;

/** Replaces texts with the shape of a secret, and values at the place of a secret. */
export function redactShapes(text: string): string {
  if (text.length < 8 || !HINTS.test(text)) return text;
  let result = text.replace(KEYS, REDACTED).replace(BEARER, `$1${REDACTED}`);
  if (result.includes('"')) result = withoutFields(result);
  if (result.includes("://")) result = result.replace(ADDRESS, `$1${REDACTED}@`);
  if (result.includes("="))
    result = result.replace(ASSIGNMENT, `$1${REDACTED}`).replace(COOKIE, `$1${REDACTED}`);
  return result.replace(HEADER, `$1${REDACTED}`).replace(KEY_HEADER, `$1${REDACTED}`);
}
