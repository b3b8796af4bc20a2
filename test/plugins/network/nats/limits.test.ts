import { NatsBudgets } from "../../../../src/plugins/network/nats/nats-budgets.js";
import { NatsRateWindow } from "../../../../src/plugins/network/nats/nats-rate-window.js";
import { Broker } from "../../../../src/plugins/network/nats/broker.js";
import { natsSettings } from "../../../../src/plugins/network/nats/nats-options.js";
import { budgetAccountContract, rateWindowContract } from "../../../../src/testing.js";
import { dropNats, NATS_URL, natsPrefix, needNats } from "../../../support/nats.js";

const LEASE_MS = 400;

/** Two clients of one place, as in two processes. */
function pairOfBrokers<T>(open: (broker: Broker) => T) {
  const prefix = natsPrefix();
  const brokers = [1, 2].map(() => new Broker(natsSettings({ servers: NATS_URL, prefix })));
  const [here, there] = brokers.map(open);
  if (here === undefined || there === undefined) throw new Error("two clients are needed");
  const dispose = async (): Promise<void> => {
    await Promise.all(brokers.map((broker) => broker.close()));
    await dropNats(prefix);
  };
  return { here, there, dispose };
}

describe("limits in NATS", () => {
  before(async function () {
    await needNats(this);
  });

  rateWindowContract("NATS", {
    shares: true,
    create() {
      const pair = pairOfBrokers((broker) => new NatsRateWindow(broker));
      return { window: pair.here, other: pair.there, dispose: pair.dispose };
    },
  });
  budgetAccountContract("NATS", {
    shares: true,
    create() {
      const pair = pairOfBrokers((broker) => new NatsBudgets(broker, LEASE_MS));
      return { accounts: pair.here, other: pair.there, dispose: pair.dispose };
    },
  });
});
