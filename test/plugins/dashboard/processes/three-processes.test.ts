import { Boards } from "../server/boards.js";
import { threeProcesses } from "./three-processes.js";

describe("three processes on one board", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are answered and cancelled each separately, while one is killed and one is cut off", async () => {
    await threeProcesses(boards, { limits: { heartbeatMs: 100, processLostMs: 2_000 }, cutMs: 0 });
  }).timeout(60_000);
});
