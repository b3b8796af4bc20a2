import { expect } from "chai";
import {
  answerBody,
  editProblem,
  originalText,
  refusalFor,
  refusalOf,
} from "../../../page/src/lib/reviews/answer.js";
import { review } from "./a-review.js";

const CALL = {
  timing: "DURING_EXECUTION",
  toolName: "refund",
  input: { order: "88213", amount: 412 },
  editSchema: {
    type: "object",
    properties: { order: { type: "string" }, amount: { type: "number", maximum: 500 } },
    required: ["order", "amount"],
    additionalProperties: false,
  },
} as const;

describe("answer to a review", () => {
  it("is available to the roles that may answer", () => {
    const lead = review({ requiredRole: "lead" });
    const user = { name: "maya", role: "reviewer" } as const;
    expect(refusalFor(user, review({}))).to.equal(undefined);
    expect(refusalFor({ ...user, reviewRoles: ["lead"] }, lead)).to.equal(undefined);
    expect(refusalFor({ ...user, reviewRoles: ["*"] }, lead)).to.equal(undefined);
    expect(refusalFor({ ...user, reviewRoles: ["clerk"] }, lead)).to.contain(
      "requires the role lead",
    );
    expect(refusalFor(user, lead)).to.contain("no review role");
    expect(refusalFor({ ...user, role: "viewer" }, review({}))).to.contain("viewer");
  });

  it("begins with the judged text", () => {
    expect(originalText(review(CALL))).to.equal('{\n  "order": "88213",\n  "amount": 412\n}');
    expect(originalText(review({}))).to.equal("Two words.");
    expect(originalText(review({ timing: "BEFORE_EXECUTION" }))).to.equal("");
  });

  it("checks the arguments of a call before they are sent", () => {
    const problem = (text: string): string | undefined => editProblem(review(CALL), text);
    expect(problem('{ "order": "1", "amount": 3 }')).to.equal(undefined);
    expect(problem('{ "order": "1", "amount": 501 }')).to.equal("amount must be at most 500.");
    expect(problem('{ "order": "1" }')).to.equal("amount is missing.");
    expect(problem('{ "order": 1, "amount": 3 }')).to.equal("order must be a text.");
    expect(problem('{ "order": "1", "amount": 3, "x": 1 }')).to.equal("x is not a known field.");
    expect(problem('{ "order": ')).to.contain("Not valid JSON");
    expect(problem("a plain text replaces the main argument")).to.equal(undefined);
  });

  it("checks an output by its schema, as JSON or as text", () => {
    const output = review({ editSchema: { type: "array", items: { type: "integer" } } });
    expect(editProblem(output, "[1, 2]")).to.equal(undefined);
    expect(editProblem(output, "[1, 2.5]")).to.equal("[1] must be a whole number.");
    expect(editProblem(output, "one")).to.contain("Not valid JSON");
    expect(editProblem(review({ editSchema: { type: "string" } }), "any text")).to.equal(undefined);
    expect(editProblem(review({}), "anything")).to.equal(undefined);
  });

  it("to a question is not empty", () => {
    const question = review({ timing: "DURING_EXECUTION", toolName: "human_input" });
    expect(editProblem(question, " \n")).to.equal("The answer is empty.");
    expect(editProblem(question, "Tuesday")).to.equal(undefined);
  });

  it("has the fields that the server accepts", () => {
    expect(answerBody("approve", { comment: "  " })).to.deep.equal({ decision: "approve" });
    expect(answerBody("edit", { text: "new", comment: " why " })).to.deep.equal({
      decision: "edit",
      revisedOutput: "new",
      comment: "why",
    });
  });

  it("explains why the server refused it", () => {
    const body = { error: "CODE", message: "The message." };
    const resolved = refusalOf(409, { ...body, by: "joel", decision: "EDIT" });
    expect(resolved).to.deep.equal({
      kind: "over",
      title: "Answered by joel: approved with edit.",
      text: "Your answer was not used.",
    });
    expect(refusalOf(410, body).kind).to.equal("over");
    expect(refusalOf(404, body).kind).to.equal("over");
    expect(refusalOf(422, body)).to.include({ kind: "fix", text: "The message." });
    expect(refusalOf(403, body)).to.include({ kind: "fix", title: "Not allowed." });
    expect(refusalOf(0, body).title).to.equal("Not sent.");
    expect(refusalOf(500, body).title).to.contain("CODE");
  });
});
