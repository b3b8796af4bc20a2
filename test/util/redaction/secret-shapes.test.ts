import { expect } from "chai";
import {
  isSecretField,
  isSecretVariable,
  redactShapes,
} from "../../../src/util/redaction/secret-shapes.js";

describe("isSecretField", () => {
  it("recognises fields with secrets, in any spelling, and keeps counts", () => {
    for (const name of [
      "password",
      "apiKey",
      "api_key",
      "X-Auth-Token",
      "Set-Cookie",
      "clientSecret",
    ])
      expect(isSecretField(name), name).to.equal(true);
    for (const name of ["inputTokens", "tokenCount", "author", "key", "secretary"])
      expect(isSecretField(name), name).to.equal(false);
    expect(isSecretField(`${"x".repeat(100)}password`)).to.equal(false);
  });
});

describe("isSecretVariable", () => {
  it("recognises variables with secrets, and keeps those with a location or a number", () => {
    for (const name of ["OPENAI_API_KEY", "db_password", "GITHUB_TOKEN"])
      expect(isSecretVariable(name), name).to.equal(true);
    for (const name of ["MAX_TOKENS", "TOKEN_FILE", "TOKENIZERS", "SECRET_URL", "PATH"])
      expect(isSecretVariable(name), name).to.equal(false);
  });
});

describe("redactShapes", () => {
  it("replaces texts in the form of a key", () => {
    expect(redactShapes("use sk-live-3f9a7c51e2d84b60 now")).to.equal("use [redacted] now");
  });

  it("replaces values at the position of a secret", () => {
    expect(redactShapes("GET /?token=abcdef&q=1")).to.equal("GET /?token=[redacted]&q=1");
    expect(redactShapes('{"password":"x","user":"y"}')).to.equal(
      '{"password":"[redacted]","user":"y"}',
    );
  });

  it("returns other texts unchanged, and short ones immediately", () => {
    expect(redactShapes("The token budget is 100.")).to.equal("The token budget is 100.");
    expect(redactShapes("sk-1")).to.equal("sk-1");
  });
});
