import { Boards } from "../server/boards.js";
import { threeProcesses } from "./three-processes.js";

describe("three processes that report to one board during long disconnections", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are each answered and cancelled separately, while one is killed and one is disconnected for 60 s", async () => {
    await threeProcesses(boards, {
      limits: { heartbeatMs: 1_000, processLostMs: 90_000 },
      cutMs: 60_000,
    });
  }).timeout(240_000);
});
