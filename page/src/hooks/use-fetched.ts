import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api.js";
import { useBoard } from "../stores/board.js";

/** The results of requests. `ready` keeps the data while the same paths are fetched again. */
export type Fetched<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly error: ApiError }
  | { readonly kind: "ready"; readonly bodies: readonly T[] };

/**
 * Fetches some paths in sequence, and again when they or `version` change.
 * @throws errors that are not an answer of the server
 */
export function useFetched<T>(paths: readonly string[], version: unknown = 0): Fetched<T> {
  const { api } = useBoard();
  const key = paths.join("\n");
  const [state, setState] = useState<{ readonly key: string; readonly of: Fetched<T> }>();
  useEffect(() => {
    let isWanted = true;
    const load = async (): Promise<Fetched<T>> => {
      const bodies: T[] = [];
      try {
        for (const path of paths) if (isWanted) bodies.push(await api.get<T>(path));
        return { kind: "ready", bodies };
      } catch (error) {
        if (error instanceof ApiError) return { kind: "failed", error };
        throw error;
      }
    };
    void load().then((of) => {
      if (isWanted) setState({ key, of });
    });
    return () => {
      isWanted = false;
    };
  }, [key, version]);
  return state?.key === key ? state.of : { kind: "loading" };
}
