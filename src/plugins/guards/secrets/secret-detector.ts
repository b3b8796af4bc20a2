import type { Detector, Finding } from "../shared/findings.js";
import { hasSpace } from "../shared/characters.js";
import { plainWords } from "../shared/plain-words.js";
import { lastWordAt, type QuickRule } from "../shared/stream-filter.js";

/** Keys whose prefix, alphabet and length the vendor documents. */
const KEYS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["AWS access key", /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/],
  ["Anthropic key", /\bsk-ant-[a-z0-9]{2,12}-[\w-]{20,}/],
  [
    "OpenAI key",
    /\bsk-(?:proj|svcacct|admin|None)-[\w-]{20,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b|\bsk-(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z])[A-Za-z0-9]{32,}\b/,
  ],
  ["OpenRouter key", /\bsk-or-v1-[0-9a-f]{64}\b/],
  ["GitHub token", /\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{40,}/],
  ["GitLab token", /\bgl(?:pat|dt|rt|cbt|ptt|agent|oas|soat|ffct|imt)-[\w-]{20,}/],
  [
    "Slack token",
    /\bxox[abeoprs]-(?:\d[\w-]{9,}|[\w-]{0,8}\d{6}[\w-]{8,})|\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+/,
  ],
  ["Slack webhook", /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{20,}/],
  ["Stripe key", /\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}\b|\bwhsec_[A-Za-z0-9+/]{24,}/],
  ["Google key", /\bAIza[\w-]{35}(?![\w-])|\bGOCSPX-[\w-]{28}(?![\w-])|\bya29\.[\w-]{30,}/],
  ["Hugging Face token", /\b(?:hf|api_org)_[A-Za-z]{34}\b/],
  ["npm token", /\bnpm_[A-Za-z0-9]{36}\b/],
  ["PyPI token", /\bpypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[\w-]{50,}/],
  ["DigitalOcean token", /\bdo[opr]_v1_[a-f0-9]{64}\b/],
  ["SendGrid key", /\bSG\.[\w-]{16,32}\.[\w-]{16,64}(?![\w-])/],
  ["Twilio key", /\bSK[0-9a-f]{32}\b/],
  ["Mailgun key", /\bkey-[0-9a-f]{32}\b/],
  ["Shopify token", /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b/],
  ["Square token", /\bsq0(?:atp|csp|idp)-[\w-]{22,43}|\bEAAA[\w-]{60}(?![\w-])/],
  ["Telegram token", /(?<![\w:/])\d{8,10}:AA[\w-]{33}(?![\w-])/],
  ["Databricks token", /\bdapi[a-f0-9]{32}(?:-\d)?\b/],
  ["Linear key", /\blin_api_[A-Za-z0-9]{40}\b/],
  ["Notion token", /\bntn_\d{11}[A-Za-z0-9]{35}\b/],
  ["Vault token", /\bhv[sb]\.[\w-]{24,}/],
  ["Terraform token", /\b[a-zA-Z0-9]{14}\.atlasv1\.[\w=-]{60,70}/],
  ["Docker token", /\bdckr_pat_[\w-]{27}(?![\w-])/],
  ["Grafana token", /\bgls?[ac]_[A-Za-z0-9+/]{32,}(?:_[a-f0-9]{8})?/],
  ["Postman key", /\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b/],
  ["age key", /\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/],
  ["JSON web token", /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/],
  [
    "private key",
    /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){1,8000}(?:-----END [A-Z0-9 ]{1,40}-----)?/,
  ],
];
/** Finds a candidate of any kind. The kind is then determined by its pattern. */
const ANY_KEY = new RegExp(KEYS.map(([, { source }]) => source).join("|"), "g");
/** Beginnings of all keys. Texts without any of them are skipped. */
const KEY_BEGINNING =
  /A[KSBC][IC]A|sk[-_]|gh[pousr]_|github_pat_|gl[a-z]{2,5}[-_]|xox|xapp-|hooks\.slack|rk_|whsec_|AIza|GOCSPX|ya29|hf_|api_org_|npm_|pypi-|do[opr]_v1|SG\.|SK[0-9a-f]|key-|shp[a-z]{2}_|sq0|EAAA|:AA|dapi|lin_api|ntn_|hv[sb]\.|\.atlasv1|dckr_|PMAK|AGE-SECRET|eyJ|-----BEGIN/;

const LABEL =
  "(?:[\\w-]{0,30}(?:passw(?:or)?d|passphrase|passwd|pwd|secret|token|api[-_ ]?key|access[-_ ]?key|auth[-_ ]?key|account[-_ ]?key|private[-_ ]?key|client[-_ ]?secret|credential)[\\w-]{0,20}|passwort|kennwort|zugangsdaten|geheimnis|schl[üu]ssel|mot de passe|cl[ée] (?:d'api|secr[èe]te|api)|contrase[ñn]a|clave)";
/** `label: value`, `label = "value"`, `"label": "value"`, `the password is value`. */
const ASSIGNED = new RegExp(
  `(?<![\\w])${LABEL}["'\`*]{0,3}(?:\\s{0,3}(?::=|=>|[:=])\\s{0,3}|\\s(?:is|lautet|ist|est|es)(?:\\s?:)?\\s)["'\`*]{0,3}([^\\s"'\`<>,;]{6,200})`,
  "giu",
);
const LABEL_BEGINNING =
  /pass(?:w|phrase)|pwd|secret|token|key|passwort|kennwort|geheimnis|zugangsdaten|schl[üu]ssel|mot de passe|cl[ée]|contrase|credential|clave/iu;
const HEADER = /\b(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/-]{16,}={0,2})/gi;
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s/:@"'<>]{1,80}:([^\s/@"'<>]{3,120})@/gi;

/** Text that takes the place of a secret in documentation and code. */
const PLACEHOLDER =
  /^[<$%{[(]|\$\{|\{\{|%\(|^(?:\*+|x+|\.{3,}|-+|_+)$|x{4,}|\*{3,}|\.{3}|^(?:your|my|the|dein|ihr|votre|mon|some|a|an|new|old)[-_]|(?:^|[-_.])(?:example|placeholder|changeme|change-me|dummy|redacted|sample|todo|here|none|null|undefined|true|false|string|required|optional)(?:$|[-_.)])|^(?:process\.env|os\.|env\.|config\.|self\.|this\.|settings\.|options\.|getenv|vault:|secret:|arn:|ref:|file:|https?:)|[(){}]|\[\w*\]/i;

/** Words that documentation uses in place of a password. */
const NAME_OF_SECRET = /^(?:pass(?:word|wd)?|pwd?|secret|token|key|passwort|mdp)$/i;

/** Returns the entropy of a text in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/**
 * Returns whether the value of a field named like a secret is a secret, not a word or a
 * placeholder.
 */
function isSecretValue(value: string): boolean {
  const bare = value.replace(/[.)\]}]+$/, "");
  if (bare.length < 6 || PLACEHOLDER.test(bare)) return false;
  const hasDigit = /\d/.test(bare);
  const hasLetter = /\p{L}/u.test(bare);
  const isMixed = /[a-z]/.test(bare) && /[A-Z]/.test(bare);
  const hasSign = /[^\p{L}\p{N}_.-]/u.test(bare);
  if (/^[\d.,:/-]+$/.test(bare)) return false;
  if (!hasLetter || !(hasDigit || (hasSign && bare.length >= 8) || (isMixed && bare.length >= 20)))
    return false;
  return entropyOf(bare) >= (bare.length >= 20 ? 3 : 2.5);
}

/**
 * Patterns that find values by the words or signs around them. A text without the sign has no such
 * value.
 */
const SURROUNDED: readonly (readonly [kind: string, sign: RegExp, pattern: RegExp])[] = [
  ["password", LABEL_BEGINNING, ASSIGNED],
  ["authorization header", /bearer|basic/i, HEADER],
  ["password in a URL", /:\/\//, ADDRESS],
];

function findSurrounded(text: string, findings: Finding[]): void {
  for (const [kind, sign, pattern] of SURROUNDED) {
    if (!sign.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const value = (match[1] ?? "").replace(/[.)\]}]+$/, "");
      if (value === "") continue;
      const isFound =
        kind === "password in a URL"
          ? !PLACEHOLDER.test(value) && !NAME_OF_SECRET.test(value)
          : isSecretValue(value);
      const start =
        match.index + match[0].indexOf(value, match[0].length - (match[1] ?? "").length - 1);
      if (isFound) findings.push({ kind, start, end: start + value.length });
    }
  }
}

/** Returns whether a key is an example without entropy, such as `sk-xxxxxxxx`. */
function isFiller(key: string): boolean {
  const body = key.slice(-Math.min(key.length, 24));
  return entropyOf(body) < 2.6 || /x{6,}|\*{4,}|\.{3}/i.test(key);
}

/**
 * Returns a detector of secrets: keys with a vendor's format, values of fields named like secrets,
 * and the known values.
 */
export function secretDetector(known: readonly string[]): Detector {
  return (text) => {
    const findings: Finding[] = [];
    for (const value of known)
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
        findings.push({ kind: "known secret", start: at, end: at + value.length });
    if (KEY_BEGINNING.test(text))
      for (const { 0: value, index } of text.matchAll(ANY_KEY))
        if (!isFiller(value))
          findings.push({ kind: vendorOf(value), start: index, end: index + value.length });
    findSurrounded(text, findings);
    return findings;
  };
}

function vendorOf(key: string): string {
  return KEYS.find(([, pattern]) => pattern.test(key))?.[0] ?? "key";
}

/** An incomplete block of a private key, which may continue after this text. */
const OPEN_BLOCK =
  /^-----BEGIN(?: [A-Z0-9 ]{0,60}-{0,5}| (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,8000}-{0,5}(?:EN?|END[A-Z0-9 ]{0,44}-{0,5})?)?$/;

/**
 * Returns the index from which a streamed text could be the beginning of a secret of several words.
 * If there is none, returns the index of the last word.
 */
export function secretHoldFrom(known: readonly string[]): (text: string) => number {
  const phrases = known.filter(hasSpace);
  return (text) => {
    let from = lastWordAt(text);
    const block = text.lastIndexOf("-----BEGIN");
    if (block >= 0 && OPEN_BLOCK.test(text.slice(block))) from = Math.min(from, block);
    for (const phrase of phrases)
      for (let at = Math.max(0, text.length - phrase.length); at < from; at++)
        if (phrase.startsWith(text.slice(at))) from = at;
    return from;
  };
}

/** Text after which a single word can be a secret value. */
const BEFORE_VALUE =
  /(?:[:=>]|\s(?:is|lautet|ist|est|es)\s|\b(?:bearer|basic)\s)\s{0,3}["'`*]{0,3}$/iu;

/**
 * Returns whether the text before some words can make one of them a secret. A single word needs a
 * label before it, or contains the end of a label.
 */
export function needsLabel(text: string, before: string): boolean {
  return /[:=]|\s\S/.test(text) || BEFORE_VALUE.test(before);
}

/**
 * The features of a word with a secret: a digit, a special character, or the length of a key. Most
 * words have none.
 */
const SUSPECT = /[^\s\p{L}_.,;"'`<>-]|\S{18}|-----/u;

const LONG_WORD = 18;
/**
 * Returns the rule for short plain words. Every secret has a letter, and a digit, a sign or the
 * length of a key. A known secret has at least its length.
 */
const wordsShorterThan = (length: number): (() => QuickRule) =>
  plainWords({ letters: /[a-z]/i, others: /[\d:=+()/%]/, marks: /[_.,;"'`<>]/, length });
const shortWords = wordsShorterThan(LONG_WORD);

/** Returns the function that creates the rule `quick` for a stream. */
export function plainSecretWords(known: readonly string[]): (() => QuickRule) | undefined {
  if (known.length === 0) return shortWords;
  return known.some(hasSpace)
    ? undefined
    : wordsShorterThan(Math.min(LONG_WORD, ...known.map(({ length }) => length)));
}

/** Returns whether one of the words can be the end of a secret. */
export function isSecretLike(text: string, known: readonly string[]): boolean {
  return SUSPECT.test(text) || known.some((value) => text.includes(value));
}
