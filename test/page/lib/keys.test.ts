import { expect } from "chai";
import { isTyping, keyOf } from "../../../page/src/lib/keys.js";

describe("keys of the page", () => {
  const key = (
    name: string,
    held: Partial<Record<"ctrlKey" | "metaKey" | "altKey", boolean>> = {},
  ): string => keyOf({ key: name, ctrlKey: false, metaKey: false, altKey: false, ...held });

  it("have names, with Ctrl also for the command key", () => {
    expect([
      key("a"),
      key("?"),
      key("Enter", { ctrlKey: true }),
      key("Enter", { metaKey: true }),
      key("a", { altKey: true }),
    ]).to.deep.equal(["a", "?", "Ctrl+Enter", "Ctrl+Enter", "Alt+a"]);
  });

  it("are ignored in text fields, and handled on checkboxes and elsewhere", () => {
    const typing = [
      { tagName: "INPUT", type: "text" },
      { tagName: "TEXTAREA" },
      { tagName: "SELECT" },
      { tagName: "DIV", isContentEditable: true },
    ];
    const other = [{ tagName: "INPUT", type: "checkbox" }, { tagName: "BUTTON" }, {}, null];
    expect(typing.map(isTyping)).to.deep.equal([true, true, true, true]);
    expect(other.map(isTyping)).to.deep.equal([false, false, false, false]);
  });
});
