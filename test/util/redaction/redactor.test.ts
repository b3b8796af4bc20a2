import { expect } from "chai";
import fc from "fast-check";
import { createRedactor } from "../../../src/util/redaction/redactor.js";

const KEY = "sk-live-3f9a7c51e2d84b60";
const redactor = createRedactor({
  environment: {
    ACME_API_KEY: 'acme 1234/ö"x',
    MAX_TOKENS: "12345678",
    DB_PASSWORD: "tiny",
    TOKEN_FILE: "/etc/some/token",
  },
});
const text = (s: string): string => redactor.redactText(s);

describe("createRedactor", () => {
  it("replaces the values of environment variables named like secrets, in any spelling", () => {
    expect(text('a acme 1234/ö"x b')).to.equal("a [redacted] b");
    expect(text(`https://x.test/?q=${encodeURIComponent('acme 1234/ö"x')}`)).to.equal(
      "https://x.test/?q=[redacted]",
    );
    expect(text(JSON.stringify({ note: 'it is acme 1234/ö"x' }))).to.equal(
      '{"note":"it is [redacted]"}',
    );
  });

  it("keeps short values, counts, and variables with the location of a secret", () => {
    for (const plain of ["tiny", "12345678", "/etc/some/token"])
      expect(text(`see ${plain}.`)).to.equal(`see ${plain}.`);
  });

  const SHAPES: readonly (readonly [string, string])[] = [
    [`key ${KEY}, end`, "key [redacted], end"],
    ["AKIAIOSFODNN7EXAMPLE", "[redacted]"],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "[redacted]"],
    ["Authorization: Bearer abc123def456", "Authorization: Bearer [redacted]"],
    ["Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: Basic [redacted]"],
    ["x-api-key: abcdef", "x-api-key: [redacted]"],
    ["Set-Cookie: session=abc; Path=/\nnext", "Set-Cookie: [redacted]\nnext"],
    ["postgres://app:hunter2@db.test/x", "postgres://[redacted]@db.test/x"],
    ["https://x.test/?api_key=abcdef&q=1", "https://x.test/?api_key=[redacted]&q=1"],
    ['{"password":"hun\\"ter2","user":"ada"}', '{"password":"[redacted]","user":"ada"}'],
    [
      JSON.stringify({ body: JSON.stringify({ apiKey: 'a"b\\c', n: 1 }) }),
      JSON.stringify({ body: JSON.stringify({ apiKey: "[redacted]", n: 1 }) }),
    ],
    ["-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----\nafter", "[redacted]\nafter"],
  ];
  for (const [given, expected] of SHAPES)
    it(`redacts ${given.slice(0, 40)}`, () => expect(text(given)).to.equal(expected));

  const PLAIN = [
    "The bearer of this letter may pass.",
    '{"inputTokens":12,"totalTokens":20,"role":"Secretary"}',
    "Token: the smallest unit of a text. Password rules apply.",
    "max_tokens=100 temperature=0.2",
    "Authorization is needed: ask the risk_assessment_of_the_whole_project team",
    "http://localhost:8080/a:b@c",
    "Cookie: preheat the oven",
  ];
  for (const plain of PLAIN)
    it(`keeps ${plain.slice(0, 40)}`, () => expect(text(plain)).to.equal(plain));

  it("calls the filters, and withholds the text if one fails", () => {
    const filtered = createRedactor({
      environment: {},
      filters: () => [(s) => s.replaceAll("Ada", "[name]"), (s) => s.toUpperCase()],
    });
    expect(filtered.redactText("Ada was here")).to.equal("[NAME] WAS HERE");
    const failing = (): string => {
      throw new Error(KEY);
    };
    expect(createRedactor({ environment: {}, filters: () => [failing] }).redactText("x")).to.equal(
      "[redacted: a secret filter failed]",
    );
  });

  it("omits the complete values of fields named like secrets, of any type and at any depth", () => {
    const value = {
      Password: "a",
      "x-api-key": 12,
      nested: [{ access_token: { a: 1 }, inputTokens: 3 }],
      secret: null,
      cookie: "",
      hasToken: true,
    };
    expect(redactor.redactValue(value)).to.deep.equal({
      Password: "[redacted]",
      "x-api-key": "[redacted]",
      nested: [{ access_token: "[redacted]", inputTokens: 3 }],
      secret: null,
      cookie: "",
      hasToken: true,
    });
  });

  it("copes with cycles, depth, size, getters that throw and what is not JSON", () => {
    const cycle: Record<string, unknown> = { name: "a" };
    cycle["self"] = cycle;
    expect(redactor.redactValue(cycle)).to.deep.equal({ name: "a", self: "[Circular]" });
    let deep: unknown = KEY;
    for (let i = 0; i < 10_000; i++) deep = [deep];
    expect(JSON.stringify(redactor.redactValue(deep)))
      .to.include("[Too deep]")
      .and.not.include(KEY);
    let wide: unknown = KEY;
    for (let i = 0; i < 60; i++) wide = [wide, wide]; // 2^60 values without a limit
    expect(JSON.stringify(redactor.redactValue(wide))).to.include("[Too large");
    expect(JSON.stringify(redactor.redactValue(new Array(1e9)))).to.include("more]");
    const thrower = Object.defineProperty({}, "bad", {
      enumerable: true,
      get: () => JSON.parse(`{"${KEY}`) as unknown,
    });
    expect(
      redactor.redactValue({
        thrower,
        n: 1n,
        f: () => KEY,
        m: new Map([["k", KEY]]),
        bytes: Buffer.alloc(9),
      }),
    ).to.satisfy((v: object) => !JSON.stringify(v).includes(KEY));
  });

  it("never throws, returns the same result twice, and leaves no planted secret", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withDate: true, withNullPrototype: true }),
        fc.string(),
        (value, around) => {
          const once = redactor.redactValue({
            value,
            planted: `${around} ${KEY} ${around}`,
            token: value,
          });
          expect(redactor.redactValue(once)).to.deep.equal(once);
          expect(JSON.stringify(once)).not.to.include(KEY);
        },
      ),
    );
  });

  it("takes time proportional to the length of any text", () => {
    const hostile = [
      '"a":"',
      '\\"a\\":\\"',
      "eyJaaaaaaaaa.",
      "bearer ",
      "-----BEGIN PRIVATE KEY-----",
      "://a:",
      "cookie: a",
      "sk-",
      '"password":"\\',
      "authorization: basic ",
      "token=",
    ];
    const cost = (size: number): number =>
      Math.max(
        ...hostile.map((piece) => {
          const given = piece.repeat(Math.ceil(size / piece.length));
          const before = process.cpuUsage();
          text(given);
          const { user, system } = process.cpuUsage(before);
          return user + system;
        }),
      );
    cost(10_000);
    expect(cost(2_000_000)).to.be.below(2_000_000); // microseconds: a quadratic pattern would take hours
  });
});
