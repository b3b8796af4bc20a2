import { backendsOnPglite, type OpenBackends } from "./backends.js";
import { backendSuites } from "./suites.js";

describe("the backend in PGlite", function () {
  this.timeout(60_000);
  let backends: OpenBackends;
  before(() => void (backends = backendsOnPglite()));
  after(() => backends.end());
  backendSuites("PGlite", () => backends, false);
});
