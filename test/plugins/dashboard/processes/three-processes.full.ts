import { Boards } from "../server/boards.js";
import { threeProcesses } from "./three-processes.js";

describe("three processes on one board, for as long as a network may be away", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are answered and cancelled each by itself, while one is killed and one is cut off for 60 s", async () => {
    await threeProcesses(boards, {
      limits: { heartbeatMs: 1_000, processLostMs: 90_000 },
      cutMs: 60_000,
    });
  }).timeout(240_000);
});
