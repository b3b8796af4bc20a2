import {
  Dice,
  framed,
  texts,
  type Frames,
  type LabelledCase,
  type Value,
} from "./labelled-case.js";
import { SECRETS_OF_STANDARDS } from "./standard-values.js";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALNUM = LOWER + UPPER + DIGITS;
const HEX = `${DIGITS}abcdef`;

/** Formats of vendors: beginning, alphabet, length. */
const FORMATS: readonly (readonly [string, string, number, string?])[] = [
  ["AKIA", `${UPPER}234567`, 16],
  ["ASIA", `${UPPER}234567`, 16],
  ["sk-proj-", `${ALNUM}_-`, 48],
  ["sk-ant-api03-", `${ALNUM}_-`, 60],
  ["sk-or-v1-", HEX, 64],
  ["ghp_", ALNUM, 36],
  ["gho_", ALNUM, 36],
  ["ghs_", ALNUM, 36],
  ["glpat-", ALNUM, 20],
  ["xoxb-", DIGITS, 12, "-1a2B3c4D5e6F"],
  ["sk_live_", ALNUM, 24],
  ["rk_test_", ALNUM, 24],
  ["whsec_", ALNUM, 32],
  ["AIza", ALNUM, 35],
  ["GOCSPX-", ALNUM, 28],
  ["hf_", LOWER + UPPER, 34],
  ["npm_", ALNUM, 36],
  ["pypi-AgEIcHlwaS5vcmc", ALNUM, 60],
  ["dop_v1_", HEX, 64],
  ["SK", HEX, 32],
  ["key-", HEX, 32],
  ["shpat_", HEX, 32],
  ["dapi", HEX, 32],
  ["lin_api_", ALNUM, 40],
  ["hvs.", ALNUM, 24],
  ["dckr_pat_", ALNUM, 27],
];
const KEY_FRAMES: Frames = {
  en: [
    "Use {} to sign in.",
    "The log contains {} in line 3.",
    "export KEY={}",
    "I found {} in the repository.",
  ],
  de: [
    "Mit {} melden Sie sich an.",
    "Im Protokoll steht {} in Zeile 3.",
    "SCHLUESSEL={}",
    "Im Archiv fand ich {}.",
  ],
  fr: [
    "Utilisez {} pour vous connecter.",
    "Le journal contient {} à la ligne 3.",
    "CLE={}",
    "J'ai trouvé {} dans le dépôt.",
  ],
};
const WORD_FRAMES: Frames = {
  en: [
    "password: {}",
    "The password is {}",
    'client_secret = "{}"',
    '{"apiKey": "{}"}',
    "DB_PASSWORD={}",
  ],
  de: [
    "Passwort: {}",
    "Das Kennwort lautet {}",
    "Das Passwort ist {}",
    "Zugangsdaten: {}",
    "API-Schlüssel: {}",
  ],
  fr: [
    "Mot de passe : {}",
    "Le mot de passe est {}",
    "clé API : {}",
    "mot de passe = {}",
    "clé secrète : {}",
  ],
};
const WORDS = [
  "Winter2024!",
  "hunter22",
  "Tr0ub4dor&3",
  "p4ssw0rd-99",
  "Sonne#2025",
  "Bleu!Ciel7",
  "xK9$mQ2v",
  "correct7horse",
  "Zug5-fahrt",
  "M4rseille?",
  "aB3xY9kLmN",
  "q8Wz!4rT",
  "Kaffee_42!",
  "Pa55w0rt",
  "S3cr3t-x1",
];
/** Written in pieces: scanners of repositories do not report them as valid secrets. */
const DOCUMENTED: readonly (readonly [string, readonly string[]])[] = [
  ["AWS documentation", ["AKIA", "IOSFODNN7EXAMPLE"]],
  ["AWS documentation", ["aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]],
  ["Stripe documentation", ["sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"]],
  ["Stripe documentation", ["sk_test_", "BQokikJOvBiI2HlWgH4olfQ2"]],
  ["GitHub documentation", ["gho_", "16C7e42F292c6912E7710c838347Ae178B4a"]],
  ["GitHub documentation", ["ghu_", "16C7e42F292c6912E7710c838347Ae178B4a"]],
  [
    "GitHub documentation",
    ["ghr_", "1B4a2e77838347a7E420ce178F2E7c6912E169246c34E1ccbF66C46812d16D5B1A9Dc86A1498"],
  ],
  ["RFC 6750", ["Authorization: Bearer ", "mF_9.B5f-4.1JqM.xyz1"]],
  ["RFC 7617", ["Authorization: Basic ", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]],
  [
    "RFC 7519",
    [
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
      ".",
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
      ".",
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    ],
  ],
  [
    "jwt.io",
    [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      ".",
      "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
      ".",
      "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ],
  ],
  ["PostgreSQL documentation, libpq", ["postgresql://user:", "s3cret", "@localhost/mydb"]],
];
const HARMLESS: Frames = {
  en: [
    "Set {} in your shell.",
    "See the documentation of {}.",
    "The value {} is missing.",
    "We changed {} yesterday.",
  ],
  de: [
    "Setzen Sie {} in der Shell.",
    "Siehe die Dokumentation von {}.",
    "Der Wert {} fehlt.",
    "Wir haben {} gestern geändert.",
  ],
  fr: [
    "Définissez {} dans le shell.",
    "Voir la documentation de {}.",
    "La valeur {} manque.",
    "Nous avons changé {} hier.",
  ],
};
const NOT_SECRET = [
  "OPENAI_API_KEY",
  "password: <your password>",
  "password: ********",
  "token=${TOKEN}",
  "apiKey: process.env.API_KEY",
  "secret: your-secret-here",
  "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
  "AKIAXXXXXXXXXXXXXXXX",
  "max_tokens: 4096",
  "token count: 12345",
  "tokens=1200",
  "the password field",
  "password reset",
  "public key",
  "primary key: id",
  "key: value",
  "keyboard: qwerty",
  "passport: required",
  "secretary: Jones",
  "Bearer <token>",
  "Authorization: Bearer $TOKEN",
  "https://user@example.com/x",
  "https://example.com:8080/a",
  "postgres://localhost/db",
  "9fceb02d0ae598e95dc970b74767f19372d61af8",
  "d41d8cd98f00b204e9800998ecf8427e",
  "550e8400-e29b-41d4-a716-446655440000",
  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "sk-learn-pipeline-component",
  "ghp_short",
  "npm_config_registry",
  "hf_hub_download",
  "key-value-store",
  "SG.1",
  "AIza",
  "-----BEGIN CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----",
  "ssh-rsa AAAAB3NzaC1yc2E",
  "password: string",
  "token: required",
  "secret: true",
  "password = getpass()",
  "token = os.environ['TOKEN']",
  "api_key=None",
  "passwd: none",
  "data:image/png;base64,iVBORw0KGgo",
  "2026-01-15T10:30:00Z",
  "mailto:ana@example.com",
  "access_key: (see vault)",
  "credentials: [...]",
];
const PLAIN: Frames = {
  en: [
    "Choose a password with at least {} characters.",
    "A token is about {} characters of English text.",
    "The key issue took {} hours.",
  ],
  de: [
    "Wählen Sie ein Passwort mit mindestens {} Zeichen.",
    "Ein Token hat etwa {} Zeichen.",
    "Der Schlüssel liegt in Raum {}.",
  ],
  fr: [
    "Choisissez un mot de passe d'au moins {} caractères.",
    "Un jeton compte environ {} caractères.",
    "La clé du bureau {} est à l'accueil.",
  ],
};

/**
 * Returns keys, passwords and private keys, and texts about them. `readmes` are sentences with
 * their source.
 */
export function secretCases(
  readmes: readonly (readonly [source: string, text: string])[],
): readonly LabelledCase[] {
  const dice = new Dice(3);
  const keys = [0, 1, 2].flatMap(() =>
    FORMATS.map(([start, alphabet, length, end = ""]) => start + dice.text(alphabet, length) + end),
  );
  const documented: readonly Value[] = [...DOCUMENTED, ...SECRETS_OF_STANDARDS].map(
    ([source, parts]) => ({
      text: parts.join(""),
      source,
    }),
  );
  const pem = texts(
    "en",
    true,
    ["RSA ", "EC ", "", "OPENSSH "].map(
      (kind) =>
        `-----BEGIN ${kind}PRIVATE KEY-----\n${dice.text(`${ALNUM}+/`, 64)}\n-----END ${kind}PRIVATE KEY-----`,
    ),
  );
  return [
    ...framed(KEY_FRAMES, keys.slice(0, 66), true),
    ...framed(KEY_FRAMES, documented, true),
    ...framed(
      WORD_FRAMES,
      [...WORDS, ...WORDS.map((word) => `${word}${dice.text(DIGITS, 2)}`)],
      true,
    ),
    ...pem,
    ...framed(HARMLESS, NOT_SECRET, false),
    ...framed(
      PLAIN,
      Array.from({ length: 24 }, (_, index) => String(index + 7)),
      false,
    ),
    ...readmes.flatMap(([source, text]) => texts("en", false, [text], source)),
  ];
}
