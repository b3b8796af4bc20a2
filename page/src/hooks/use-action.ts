import { useState } from "preact/hooks";
import { ApiError } from "../api.js";

/** A request that a user makes with a button. */
export interface Action {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Sends the request, and stores its refusal. A second request waits for the first. */
  readonly run: (request: () => Promise<void>) => void;
}

/** Stores the results of requests made with buttons. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const run = (request: () => Promise<void>): void => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    request()
      .catch((reason: unknown) => {
        if (!(reason instanceof ApiError)) throw reason;
        setError(reason);
      })
      .finally(() => setBusy(false));
  };
  return { isBusy, error, run };
}

/** Returns the problems of inputs by field, if the server refused them. */
export function inputProblems(error: ApiError | undefined): Readonly<Record<string, string>> {
  const fields = error?.code === "INPUTS_INVALID" ? error.body["fields"] : undefined;
  if (typeof fields !== "object" || fields === null) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, problem]) => [name, String(problem)]),
  );
}
