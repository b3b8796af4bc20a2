import { expect } from "chai";
import { parseVerdict } from "../../../../src/plugins/workflows/phases/review-verdict.js";

describe("parseVerdict", () => {
  const verdicts: readonly (readonly [string, ReturnType<typeof parseVerdict>])[] = [
    ["APPROVE", { kind: "approve" }],
    ["approve: well done", { kind: "approve" }],
    ["", { kind: "approve" }],
    ["  \n ", { kind: "approve" }],
    ["I like it: RETRY", { kind: "approve" }],
    ["RETRYING", { kind: "approve" }],
    ["retry me: now", { kind: "approve" }],
    ["RETRY", { kind: "retry", feedback: "" }],
    ["Retry: say when: today", { kind: "retry", feedback: "say when: today" }],
    ["  RETRY :  more\nand more  ", { kind: "retry", feedback: "more\nand more" }],
    ["RETRY\nmore", { kind: "retry", feedback: "more" }],
    [
      "RETRY_PREDECESSOR research",
      { kind: "retryPredecessor", phaseName: "research", feedback: "" },
    ],
    [
      "retry_predecessor Market research: find figures",
      { kind: "retryPredecessor", phaseName: "Market research", feedback: "find figures" },
    ],
    ["RETRY_PREDECESSOR", { kind: "approve" }],
    ["RETRY_PREDECESSOR: research", { kind: "approve" }],
    ["REJECT", { kind: "reject", reason: "" }],
    ["reject: off topic", { kind: "reject", reason: "off topic" }],
    ["REJECT\nbecause: off topic", { kind: "reject", reason: "because: off topic" }],
  ];
  for (const [raw, verdict] of verdicts)
    it(`reads ${JSON.stringify(raw)} as ${verdict.kind}`, () =>
      expect(parseVerdict(raw)).to.deep.equal(verdict));
});
