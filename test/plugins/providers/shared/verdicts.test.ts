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

  it("is a bad request for an error in a stream whose code names the request", () => {
    for (const code of [
      "invalid_prompt",
      "invalid_base64_image",
      "image_too_large",
      "empty_image_file",
      "unsupported_image_media_type",
      "bio_policy",
    ]) {
      const { code: verdict, retryable } = judgeWords(`${code}  The request failed`, place);
      expect([code, verdict, retryable]).to.deep.equal([code, "AE_MODEL_BAD_REQUEST", false]);
    }
  });

  it("is a rate limit if the text names the end of the wait, even if it names billing", () => {
    for (const words of [
      "rate_limit_exceeded tokens Rate limit reached for model `a`: Limit 12000. Please try again in 11.4s. Need more tokens? Upgrade today at https://a.test/settings/billing",
      "429  You exceeded your current quota, please check your plan and billing details. Please retry in 36.4s.",
    ]) {
      const { code, retryable } = judgeStatus(429, words, place);
      expect([code, retryable]).to.deep.equal(["AE_MODEL_RATE_LIMITED", true]);
      expect(judgeWords(words, place).code).to.equal("AE_MODEL_RATE_LIMITED");
    }
    const words = "insufficient_quota  You exceeded your current quota, check your billing details";
    expect(judgeStatus(429, words, place).code).to.equal("AE_MODEL_QUOTA");
  });

  it("is the context length in the words of each vendor", () => {
    for (const words of [
      "prompt is too long: 250000 tokens > 200000 maximum",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "exceed_context_size_error the request exceeds the available context size",
      "The decoder prompt (length 41000) is longer than the maximum model length of 40960",
      "This model's maximum prompt length is 131072 but the request contains 150000 tokens",
      "Input is too long for requested model.",
    ])
      expect([words, judgeStatus(400, words, place).code]).to.deep.equal([
        words,
        "AE_MODEL_CONTEXT_LENGTH",
      ]);
    expect(judgeStatus(400, "max_tokens is too large: 99999", place).code).to.equal(
      "AE_MODEL_BAD_REQUEST",
    );
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
    for (const words of [
      "credit balance is too low",
      "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
      "billing_hard_limit_reached",
    ])
      expect([words, codeOf(400, words)]).to.deep.equal([words, "AE_MODEL_QUOTA"]);
    expect(judgeStatus(501, "", place).retryable).to.equal(false);
    expect(judgeStatus(302, "", place).hint).to.contain("(now https://a.test/v1)");
  });
});
