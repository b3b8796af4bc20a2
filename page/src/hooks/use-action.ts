import { useState } from "preact/hooks";
import { ApiError } from "../api.js";

/** A request that a person makes by a button. */
export interface Action {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Makes the request, and keeps what was refused; a second one waits for the first. */
  readonly run: (request: () => Promise<void>) => void;
}

/** Keeps what becomes of requests that are made by buttons. */
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

/** What is wrong with inputs, by field, where the server refused them. */
export function inputProblems(error: ApiError | undefined): Readonly<Record<string, string>> {
  const fields = error?.code === "INPUTS_INVALID" ? error.body["fields"] : undefined;
  if (typeof fields !== "object" || fields === null) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, problem]) => [name, String(problem)]),
  );
}
