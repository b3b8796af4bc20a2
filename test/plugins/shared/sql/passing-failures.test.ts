import { expect } from "chai";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { isPassing } from "../../../../src/plugins/shared/sql/sql-database.js";

const withCode = (code: string): Error => Object.assign(new Error(code), { code });

describe("failures of a database", () => {
  it("are temporary if the connection broke, or the server restarts, is overloaded or changes its role", () => {
    for (const code of ["57P01", "57P03", "08006", "53300", "53100", "40001", "40P01", "25006"])
      expect(isPassing(withCode(code)), code).to.equal(true);
    for (const code of ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND"])
      expect(isPassing(withCode(code)), code).to.equal(true);
    expect(isPassing(new Error("Connection terminated unexpectedly"))).to.equal(true);
  });

  it("are permanent if the statement, the role or the program is wrong", () => {
    for (const code of ["42501", "42P01", "22021", "23505", "28P01"])
      expect(isPassing(withCode(code)), code).to.equal(false);
    for (const error of [new TypeError("x"), new ValidationError("x"), "x", undefined])
      expect(isPassing(error), String(error)).to.equal(false);
  });
});
