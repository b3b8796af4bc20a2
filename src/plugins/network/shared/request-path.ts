import { createToken } from "../../../contracts/token.js";

/**
 * The names of the ensembles that the request of a run has passed. A value of runs that execute
 * requests.
 */
export const REQUEST_PATH = createToken<readonly string[]>("NetworkRequestPath");
