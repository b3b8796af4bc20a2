import { dropNats, NATS_URL, natsPrefix, needNats } from "../../../support/nats.js";
import { chaosAtSteps } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";

describe("services on NATS whose processes are killed", function () {
  this.timeout(240_000);
  const prefix = natsPrefix();
  before(function () {
    return needNats(this);
  });
  afterEach(() => dropNats(prefix));

  it("finish requests that killed processes left at each step of a delivery", async () => {
    expectNothingLost(await chaosAtSteps({ url: NATS_URL, prefix }));
  });
});
