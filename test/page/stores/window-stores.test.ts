import { expect } from "chai";
import { createRouteStore, type AddressWindow } from "../../../page/src/stores/route-store.js";
import { createThemeStore, type ThemedWindow } from "../../../page/src/stores/theme-store.js";
import { TestBrowser } from "./environment.js";

/** A window with a history. */
class TestWindow implements AddressWindow {
  readonly entries: string[];
  readonly location: { readonly hash: string };
  readonly history: AddressWindow["history"];
  readonly #listeners: (() => void)[] = [];

  constructor(hash: string) {
    const entries = [hash];
    this.entries = entries;
    this.location = {
      get hash() {
        return entries.at(-1) ?? "";
      },
    };
    this.history = {
      pushState: (_data, _unused, url) => void entries.push(url),
      replaceState: (_data, _unused, url) => void entries.splice(-1, 1, url),
    };
  }

  addEventListener(_type: "hashchange" | "popstate", listener: () => void): void {
    this.#listeners.push(listener);
  }

  back(): void {
    this.entries.pop();
    for (const listener of this.#listeners) listener();
  }
}

describe("the address of the page", () => {
  it("is read at the start, and after each step back", () => {
    const window = new TestWindow("#/runs/r%201?view=graph");
    const route = createRouteStore(window);
    expect(route.current.value).to.deep.equal({ path: ["runs", "r 1"], query: { view: "graph" } });
    route.go("#/reviews");
    expect(route.current.value.path).to.deep.equal(["reviews"]);
    window.back();
    expect(route.current.value.path).to.deep.equal(["runs", "r 1"]);
  });

  it("changes in parts, and replaces the current entry on request", () => {
    const window = new TestWindow("#/runs/a?view=graph&task=t");
    const route = createRouteStore(window);
    route.patch({ view: "cost", task: undefined });
    route.patch({ at: "7" }, "replace");
    expect(window.entries).to.deep.equal(["#/runs/a?view=graph&task=t", "#/runs/a?view=cost&at=7"]);
  });

  it("adds no entry to the history if it does not change", () => {
    const window = new TestWindow("#/runs");
    createRouteStore(window).go("#/runs");
    expect(window.entries).to.deep.equal(["#/runs"]);
  });
});

describe("the theme of the page", () => {
  /** A system with these colours. */
  function system(isDark: boolean): ThemedWindow & { change(isDark: boolean): void } {
    let matches = isDark;
    let listener = (): void => undefined;
    const query = {
      get matches() {
        return matches;
      },
      addEventListener: (_type: "change", fn: () => void): void => void (listener = fn),
    };
    return {
      matchMedia: () => query,
      change(dark) {
        matches = dark;
        listener();
      },
    };
  }

  it("is that of the system, until a user chooses", () => {
    const { env } = new TestBrowser();
    const window = system(true);
    const store = createThemeStore(env, window);
    expect(store.theme.value).to.equal("dark");
    window.change(false);
    expect(store.theme.value).to.equal("light");
    store.toggle();
    window.change(false);
    expect(store.theme.value, "the choice stays").to.equal("dark");
    store.toggle();
    expect(store.theme.value).to.equal("light");
  });

  it("is kept for the next visit, and a stored value that is not a theme has no effect", () => {
    const { env } = new TestBrowser();
    createThemeStore(env, system(false)).toggle();
    expect(createThemeStore(env, system(false)).theme.value).to.equal("dark");
    env.local.write("agentensemble.theme", "purple");
    expect(createThemeStore(env, system(false)).theme.value).to.equal("light");
  });
});
