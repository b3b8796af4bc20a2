import { expect } from "chai";
import { hrefOf, parseRoute } from "../../../page/src/lib/route.js";

describe("addresses of the page", () => {
  it("hold the run, the view and the task", () => {
    expect(parseRoute("#/runs/r-1?view=timeline&task=risks&call=2")).to.deep.equal({
      path: ["runs", "r-1"],
      query: { view: "timeline", task: "risks", call: "2" },
    });
  });

  it("show the runs by default", () => {
    for (const hash of ["", "#", "#/"]) expect(parseRoute(hash).path).to.deep.equal(["runs"]);
  });

  it("are read in the written form", () => {
    const query = { task: "größe & ?/#=%", view: "graph" };
    const href = hrefOf(["runs", "a/b ?#%"], { ...query, call: undefined, at: "" });
    expect(parseRoute(href)).to.deep.equal({ path: ["runs", "a/b ?#%"], query });
  });

  it("keep malformed parts unchanged", () => {
    expect(parseRoute("#/runs/%E0%A4%A?task=%").path).to.deep.equal(["runs", "%E0%A4%A"]);
  });
});
