import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface KeyHelpProps {
  readonly onClose: () => void;
}

type Keys = readonly (readonly [keys: readonly string[], what: string])[];

/** The keyboard shortcuts of the page, grouped by the views in which they work. */
const GROUPS: readonly (readonly [title: string, keys: Keys])[] = [
  [
    "Everywhere",
    [
      [["?"], "these keys"],
      [["/"], "search in the open run, otherwise in all"],
      [["g", "r"], "runs"],
      [["g", "v"], "reviews"],
      [["g", "t"], "threads of conversations"],
      [["g", "s"], "services"],
      [["t"], "light or dark colours"],
      [["Esc"], "close what is open"],
    ],
  ],
  [
    "List of runs",
    [
      [["f"], "filter"],
      [["j", "k"], "next, previous run"],
      [["Enter"], "open the run"],
      [["x"], "select the run for comparing"],
    ],
  ],
  [
    "Run",
    [
      [["1", "…", "6"], "graph, timeline, tasks, cost, errors, events"],
      [["["], "task before"],
      [["]"], "task behind"],
      [["f"], "the whole graph, the whole time"],
      [["p"], "play in time"],
    ],
  ],
  [
    "Timeline",
    [
      [["↑", "↓"], "choose a row"],
      [["←", "→"], "move in time"],
      [["+", "-"], "zoom"],
      [["0"], "the whole time"],
    ],
  ],
  [
    "Reviews",
    [
      [["j", "k"], "next, previous review"],
      [["a"], "approve as it was"],
      [["e"], "edit"],
      [["x"], "end the run, or refuse the call"],
      [["Ctrl", "Enter"], "send; on a Mac ⌘ Enter"],
    ],
  ],
];

/** A window with the keys. */
export function KeyHelp({ onClose }: KeyHelpProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="key-help" aria-labelledby="key-help-title" onClose={onClose}>
      <div class="row">
        <h1 id="key-help-title" class="grow">
          Keys
        </h1>
        <button type="button" class="btn" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div class="groups">
        {GROUPS.map(([title, keys]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl>
              {keys.map(([names, what]) => (
                <div key={what}>
                  <dt>
                    {names.map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="faint">Keys do nothing else while you type.</p>
    </dialog>
  );
}
