import { signal, type ReadonlySignal } from "@preact/signals";
import { hrefOf, parseRoute, type Route } from "../lib/route.js";

export interface RouteStore {
  readonly current: ReadonlySignal<Route>;
  /** Opens an address such as `#/runs`. `replace` replaces the current address in the history. */
  go(href: string, how?: "push" | "replace"): void;
  /** Changes parts of the query. `undefined` removes a part. */
  patch(query: Readonly<Record<string, string | undefined>>, how?: "push" | "replace"): void;
}

/** The part of a window that the store uses. */
export interface AddressWindow {
  readonly location: { readonly hash: string };
  readonly history: Readonly<
    Record<"pushState" | "replaceState", (data: null, unused: string, url: string) => void>
  >;
  addEventListener(type: "hashchange" | "popstate", listener: () => void): void;
}

/** Follows the address of the window. */
export function createRouteStore(window: AddressWindow): RouteStore {
  const current = signal(parseRoute(window.location.hash));
  const read = (): void => {
    current.value = parseRoute(window.location.hash);
  };
  window.addEventListener("hashchange", read);
  window.addEventListener("popstate", read);
  const go: RouteStore["go"] = (href, how = "push") => {
    if (href === window.location.hash) return;
    if (how === "push") window.history.pushState(null, "", href);
    else window.history.replaceState(null, "", href);
    read();
  };
  return {
    current,
    go,
    patch: (query, how) => {
      const { path, query: present } = current.value;
      go(hrefOf(path, { ...present, ...query }), how);
    },
  };
}
