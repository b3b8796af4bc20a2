import { expect } from "chai";
import { redactor } from "../../../../src/plugins/observability/otel/redaction.js";

const ignored = (): void => undefined;

describe("the redaction of texts on spans", () => {
  const redact = redactor(undefined, { ACME_API_KEY: "hunter(2).long", DB_PASSWORD: "pass", PATH: "/usr/local/bin" }, ignored);

  it("takes out keys and tokens by their shapes", () => {
    const secrets = [
      "sk-proj-0123456789abcdefghij",
      "AKIAABCDEFGHIJKLMNOP",
      "ghp_0123456789abcdefghijABCDEFGHIJ",
      "xoxb-1234567890-abcdef",
      `AIza${"x".repeat(35)}`,
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
      "Bearer abcdefghijklmnop",
      `-----BEGIN RSA PRIVATE KEY-----\n${"A".repeat(20_000)}\n-----END RSA PRIVATE KEY-----`,
      "-----BEGIN PRIVATE KEY-----\nAAAA, and then it breaks off",
    ];
    for (const secret of secrets) expect(redact(`before ${secret}`)).to.equal("before [REDACTED]");
  });

  it("takes out values of the environment that are secret by name and long enough, and leaves the rest", () => {
    expect(redact("key hunter(2).long, pass, /usr/local/bin")).to.equal("key [REDACTED], pass, /usr/local/bin");
    expect(redact("nothing to hide: a sk-short, a risk-free plan")).to.equal("nothing to hide: a sk-short, a risk-free plan");
  });

  it("copes with long texts made to be slow to search", () => {
    for (const piece of ["eyJ-", "eyJaaaaaaaaaaaa.", "-----BEGIN ", "Bearer ", "sk-", "-----BEGIN PRIVATE KEY-----"]) {
      expect(redact(piece.repeat(50_000)).length).to.be.at.most(16_387);
    }
  }).timeout(5_000);

  it("lets the user's rule see the text last, and shows nothing where it fails", () => {
    const seen: unknown[] = [];
    expect(redactor((text) => text.toUpperCase(), {}, ignored)("a sk-0123456789abcdefghij")).to.equal("A [REDACTED]");
    expect(
      redactor(
        () => 5 as never,
        {},
        (error) => void seen.push(error),
      )("secret"),
    ).to.not.include("secret");
    expect(seen).to.have.length(1);
  });
});
