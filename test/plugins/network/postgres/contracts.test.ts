import { needPostgres } from "../../../support/postgres.js";
import { backendsOnPostgres, type OpenBackends } from "./backends.js";
import { backendSuites } from "./suites.js";

describe("the backend on PostgreSQL", function () {
  this.timeout(60_000);
  let backends: OpenBackends;
  before(async function () {
    await needPostgres(this);
    backends = backendsOnPostgres();
  });
  after(() => backends?.end());
  backendSuites("PostgreSQL", () => backends, true);
});
