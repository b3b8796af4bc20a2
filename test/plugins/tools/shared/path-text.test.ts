import { expect } from "chai";
import fc from "fast-check";
import { isInside, locate, problemOfPath } from "../../../../src/plugins/tools/shared/path-text.js";

describe("the text of a path", () => {
  for (const path of [
    "secret.",
    "secret ",
    "a.txt:stream",
    "CON",
    "nul.txt",
    "a/COM1/b",
    "a\\lpt9.log",
    "what?.txt",
    "C:\\x\\y..",
  ]) {
    it(`is refused on Windows for ${path}`, () => {
      expect(problemOfPath(path, "win32")).to.be.a("string");
      expect(problemOfPath(path, "linux")).to.equal(undefined);
    });
  }

  it("is accepted on Windows for ordinary paths", () => {
    for (const path of ["C:\\work\\a.txt", "sub\\..\\a.txt", "console.log", "a.b/c"])
      expect(problemOfPath(path, "win32"), path).to.equal(undefined);
  });

  it("ignores case on macOS, and always ends below the real root", () => {
    const root = { given: "/Volumes/Work", real: "/private/Work" };
    expect(locate("/volumes/WORK/a/b", root, "darwin")).to.equal("/private/Work/a/b");
    expect(locate("/PRIVATE/work/a", root, "darwin")).to.equal("/private/Work/a");
    expect(locate("/volumes/WORK/a/b", root, "linux")).to.equal(undefined);
  });

  it("leads to a place below the root, or is refused", () => {
    const part = fc.oneof(
      fc.constantFrom("..", ".", "", "a", "\\", "..\\", "/", "~", "root", "%2e%2e"),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.boolean(),
        fc.constantFrom<NodeJS.Platform>("linux", "darwin"),
        (parts, absolute, platform) => {
          const path = (absolute ? "/" : "") + parts.join("/");
          const place = locate(path, { given: "/given/root", real: "/real/root" }, platform);
          return (
            place === undefined ||
            (isInside("/real/root", place) && !place.split("/").includes(".."))
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
