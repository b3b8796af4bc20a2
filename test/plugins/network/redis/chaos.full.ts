// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { longChaos } from "../chaos/long-chaos.js";
import { OwnRedis } from "../../../support/own-redis.js";

describe("services on BullMQ, for long", function () {
  this.timeout(30 * 60_000);
  let server: OwnRedis;
  let places = 0;
  before(async function () {
    server = await OwnRedis.make(this);
  });
  after(() => server?.kill());

  longChaos({
    place: () => ({ url: server.url, prefix: `long-${++places}` }),
    restart: () => server.restart(),
  });
});
