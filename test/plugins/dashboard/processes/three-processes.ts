import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type {
  RunListBody,
  ErrorBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { BoardLimits } from "../../../../src/plugins/dashboard/server/limits.js";
import { CutLine } from "../../../page/browser/cut-line.js";
import { OtherProcess } from "../../../support/other-process.js";
import { pause } from "../../../support/time.js";
import type { Boards } from "../server/boards.js";
import { ask, askJson } from "../server/client.js";

const PROGRAM = fileURLToPath(new URL("./reporting-process.js", import.meta.url));
const HEADERS = { authorization: "Bearer token of anna", "content-type": "application/json" };

async function until(test: () => Promise<boolean>): Promise<void> {
  while (!(await test())) await pause(50);
}

/**
 * A board with three processes. One is killed, one is disconnected for a while with an open
 * connection. Answers and a cancellation reach the correct process.
 */
export async function threeProcesses(
  boards: Boards,
  o: { readonly limits: Partial<BoardLimits>; readonly cutMs: number },
): Promise<void> {
  const { url } = await boards.listening(
    {
      users: [
        { name: "anna", role: "operator", token: "token of anna", reviewRoles: ["*"] },
        { name: "worker", role: "reporter", token: "token of the worker" },
      ],
    },
    { limits: { requestsPerMinute: 100_000, ...o.limits } },
  );
  const line = new CutLine();
  const address = await line.listen();
  line.to(Number(new URL(url).port));
  const states = async (): Promise<Readonly<Record<string, string>>> => {
    const { runs } = await askJson<RunListBody>(url, "/api/runs", { headers: HEADERS });
    return Object.fromEntries(
      runs.map(({ runId, state, isAway }) => [runId, isAway === true ? `${state}, away` : state]),
    );
  };
  const waiting = async (): Promise<readonly StoredReview[]> =>
    (
      await askJson<{ reviews: readonly StoredReview[] }>(url, "/api/reviews?state=waiting", {
        headers: HEADERS,
      })
    ).reviews;
  const post = async (path: string, body: object): Promise<[number, string]> => {
    const asked = { method: "POST", headers: HEADERS, body: JSON.stringify(body) };
    const { status, text } = await ask(url, path, asked);
    return [status, (JSON.parse(text) as Partial<ErrorBody>).error ?? ""];
  };
  const answer = async (process: string): Promise<[number, string]> => {
    const review = (await waiting()).find(({ runId }) => runId === `${process}/job`);
    return post(`/api/reviews/${encodeURIComponent(review?.reviewId ?? "none")}`, {
      decision: "approve",
    });
  };

  const processes = {
    kept: OtherProcess.of(PROGRAM, url, "kept"),
    killed: OtherProcess.of(PROGRAM, url, "killed"),
    cut: OtherProcess.of(PROGRAM, address, "cut"),
  };
  boards.later(async () => {
    for (const { child } of Object.values(processes)) child.kill("SIGKILL");
    await line.close();
  });
  await until(async () => (await waiting()).length === 3);

  await processes.killed.ended("SIGKILL");
  line.stall();
  await until(async () => (await states())["cut/job"] === "waiting, away");
  expect(await answer("cut")).to.deep.equal([503, "PROCESS_AWAY"]);
  await pause(o.cutMs);
  await until(async () => (await states())["killed/job"] === "interrupted, away");
  expect((await waiting()).map(({ runId }) => runId)).not.to.include("killed/job");

  line.mend();
  await until(async () => (await states())["cut/job"] === "waiting");
  // The line first forwards the buffered data, then the process connects again.
  await until(async () => (await answer("cut"))[0] === 200);
  await processes.cut.saying(1);
  expect(await post("/api/runs/kept%2Flong/cancel", { reason: "enough" })).to.deep.equal([202, ""]);
  await processes.kept.saying(1);
  expect(processes.cut.lines).to.deep.equal(["job of cut"]);
  expect(processes.kept.lines).to.have.lengthOf(1);
  expect(processes.kept.lines[0]).to.match(/^long of kept: .*enough/);
  expect(await answer("kept")).to.deep.equal([200, ""]);
  expect(await post("/api/runs/cut%2Flong/cancel", {})).to.deep.equal([202, ""]);
  for (const { child } of [processes.kept, processes.cut])
    // nothing keeps them alive
    while (child.exitCode === null) await pause(10);
  expect(await states()).to.deep.equal({
    "kept/job": "done, away",
    "kept/long": "stopped, away",
    "cut/job": "done, away",
    "cut/long": "stopped, away",
    "killed/job": "interrupted, away",
    "killed/long": "interrupted, away",
  });
}
