import { expect } from "chai";
import { judgeStatus, judgeWords } from "../../../../src/plugins/providers/shared/verdicts.js";

const place = {
  baseURL: "https://a.test/v1",
  modelId: "m",
  keyVariable: "A_KEY",
  urlHint: "it ends with /v1",
};

describe("the meaning of a failure of a vendor", () => {
  it("is determined by the words of an error without a status", () => {
    const cases = {
      insufficient_quota: "AE_MODEL_QUOTA",
      rate_limit_error: "AE_MODEL_RATE_LIMITED",
      context_length_exceeded: "AE_MODEL_CONTEXT_LENGTH",
      invalid_request_error: "AE_MODEL_BAD_REQUEST",
      authentication_error: "AE_MODEL_AUTH",
      not_found_error: "AE_MODEL_BAD_REQUEST",
      timeout_error: "AE_MODEL_TIMEOUT",
      overloaded_error: "AE_MODEL_SERVER",
    };
    const codes = Object.keys(cases).map((words) => judgeWords(words, place).code);
    expect(codes).to.deep.equal(Object.values(cases));
    expect(judgeWords("not_found_error", place).hint).to.contain("offers a model named 'm'");
  });

  it("is determined by the status, and by the text if one status has several meanings", () => {
    const codeOf = (status: number, words = ""): string => judgeStatus(status, words, place).code;
    expect([402, 403, 408, 409, 429, 422].map((status) => codeOf(status))).to.deep.equal([
      "AE_MODEL_QUOTA",
      "AE_MODEL_AUTH",
      "AE_MODEL_TIMEOUT",
      "AE_MODEL_SERVER",
      "AE_MODEL_RATE_LIMITED",
      "AE_MODEL_BAD_REQUEST",
    ]);
    expect(codeOf(400, "credit balance is too low")).to.equal("AE_MODEL_QUOTA");
    expect(judgeStatus(501, "", place).retryable).to.equal(false);
    expect(judgeStatus(302, "", place).hint).to.contain("(now https://a.test/v1)");
  });
});
