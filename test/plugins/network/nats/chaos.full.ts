// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { natsPrefix, needNats } from "../../../support/nats.js";
import { NatsProcess } from "../../../support/nats-process.js";
import { longChaos } from "../chaos/long-chaos.js";

describe("services on NATS, for long", function () {
  this.timeout(30 * 60_000);
  const server = new NatsProcess();
  before(async function () {
    await needNats(this);
    await server.start();
  });
  after(() => server.kill());

  longChaos({
    place: () => ({ url: server.url, prefix: natsPrefix() }),
    restart: () => server.restart(),
  });
});
