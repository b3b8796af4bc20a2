import { expect } from "chai";
import { nestsDeeperThan } from "../../../../src/plugins/tools/web/html-nesting.js";

const deep = (open: string): string => open.repeat(1_000);

describe("nestsDeeperThan", () => {
  for (const [what, html] of [
    ["elements in elements", deep("<div>")],
    ["with attributes that look like end tags", deep('<div title="</div>">')],
    ["with spaces around the equals sign", deep('<div title = "></div>">')],
    ["with quotes that quote nothing", deep('<div a"b">')],
    ["with an equals sign in front", deep('<div ="x>')],
    ["with a value that begins with an equals sign", deep('<div a==">')],
    ["with values without quotes", deep("<div a=</div>")],
    ["closed by what was never open", deep("<div></span>")],
    ["behind comments that end at once", deep("<!--><div>")],
    ["behind comments that end oddly", deep("<!-- a --!><div>")],
    ["behind declarations", deep("<!x><div>")],
    ["behind odd end tags", deep("</ x><div>")],
    ["of different kinds", deep("<b><i><font>")],
    ["of lists", deep("<ul><li>")],
    ["in capitals", deep("<DIV>")],
    ["within pictures", `<svg>${deep("<g>")}`],
    ["within a style of a picture", `<svg>${deep("<style>")}`],
    ["with a slash that does nothing", deep("<div/>")],
  ] as const) {
    it(`sees ${what}`, () => expect(nestsDeeperThan(html, 256)).to.equal(true));
  }

  for (const [what, html] of [
    ["elements side by side", deep("<div>x</div>")],
    ["elements that hold nothing", deep("<br><img src=x><hr><input>")],
    ["elements that end by themselves", deep("<li>x") + deep("<p>x") + deep("<tr><td>x</td>")],
    ["elements closed with their parents", deep("<div><b><i></div>")],
    ["tags in scripts", `<script>${deep("'<div>'")}</script>`],
    ["tags in styles and comments", `<style>${deep("<div>")}</style><!--${deep("<div>")}-->`],
    ["tags in attributes", deep('<a title="<div><div>">x</a>')],
    ["text with signs", deep("a < b > c <3 & ")],
    ["leaves of a picture", `<svg>${deep('<path d="M0 0"/>')}</svg>`],
    ["nothing", ""],
    ["half a tag", "<div title='"],
  ] as const) {
    it(`does not count ${what}`, () => expect(nestsDeeperThan(html, 256)).to.equal(false));
  }

  it("counts exactly", () => {
    expect(nestsDeeperThan("<div>".repeat(10), 10)).to.equal(false);
    expect(nestsDeeperThan("<div>".repeat(11), 10)).to.equal(true);
  });
});
