import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../../../support/project.js";

const SERVER = "src/plugins/dashboard/server";
const CONTROL = "src/plugins/dashboard/control";
const PROCESSES = "src/plugins/dashboard/processes";
const SHARED = "src/plugins/shared/http";

/** The matches of a pattern in the sources of the server. */
function foundIn(folders: readonly string[], pattern: RegExp): readonly string[] {
  const texts = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder)).map((file) => readProjectFile(`${folder}/${file}`)),
  );
  const found = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, word = ""]) => word));
  return [...new Set(found)].sort();
}

describe("the page about the protocol of the dashboard", () => {
  const page = readProjectFile("docs/dashboard-protocol.md");

  it("lists every path that the server answers", () => {
    const paths = foundIn([SERVER], /"(\/api\/[\w/{}-]+)"/g);
    expect(paths.length).to.be.above(5);
    for (const path of paths) expect(page, path).to.include(path);
    for (const part of ["log", "tasks/{taskId}", "bars", "events", "trace", "cancel"])
      expect(page).to.include(`/api/runs/{runId}/${part}`);
  });

  it("lists every code of an error", () => {
    const codes = foundIn(
      [SERVER, PROCESSES, CONTROL, SHARED],
      /"([A-Z]+(?:_[A-Z]+)+|UNAUTHORIZED|FORBIDDEN|INTERNAL)"/g,
    ).filter((code) => !/^(?:EXIT_EARLY|ERR_|HPE_|NOT_FOUND$|DURING_)/.test(code));
    expect(codes).to.include.members(["REVIEW_EXPIRED", "TOO_MANY_SIGN_INS", "BODY_TIMEOUT"]);
    for (const code of codes) expect(page, code).to.include(`\`${code}\``);
  });

  it("lists every frame of both sides", () => {
    const messages = ["messages", "report-messages"]
      .map((name) => readProjectFile(`src/plugins/dashboard/protocol/${name}.ts`))
      .join("\n");
    const types = [...messages.matchAll(/readonly type: "(\w+)"/g)].map(([, type = ""]) => type);
    expect(types.length).to.be.above(12);
    for (const type of types) expect(page, type).to.match(new RegExp(`\`${type}[ \`]`));
  });
});
