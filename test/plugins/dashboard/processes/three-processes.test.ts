import { Boards } from "../server/boards.js";
import { threeProcesses } from "./three-processes.js";

describe("three processes that report to one board", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are each answered and cancelled separately, while one is killed and one is disconnected", async () => {
    await threeProcesses(boards, { limits: { heartbeatMs: 100, processLostMs: 2_000 }, cutMs: 0 });
  }).timeout(180_000); // a busy machine may take long to start the processes
});
