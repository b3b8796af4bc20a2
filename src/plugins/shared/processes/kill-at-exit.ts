/**
 * Key of the set of running commands on the `process` listener that ends them. All copies of this
 * package share the set.
 */
const RUNNING = Symbol.for("agentensemble/running-commands");

interface Killable {
  killNow(): void;
}

type ExitListener = (() => void) & { [RUNNING]?: Set<Killable> };

function currentListener(): ExitListener | undefined {
  return (process.listeners("exit") as unknown as readonly ExitListener[]).find(
    (listener) => listener[RUNNING] !== undefined,
  ); // only listeners of this package have a set
}

function newListener(): ExitListener {
  const running = new Set<Killable>();
  const listener: ExitListener = () => running.forEach((group) => group.killNow());
  listener[RUNNING] = running;
  process.on("exit", listener);
  return listener;
}

/**
 * Ends `group` if this process ends first: by `process.exit()`, an uncaught error, or a normal end.
 * A signal without a listener ends this process without running this code.
 * @returns a function that removes the group. The listener is removed with the last group.
 */
export function killAtExit(group: Killable): () => void {
  const listener = currentListener() ?? newListener();
  listener[RUNNING]?.add(group);
  return () => {
    listener[RUNNING]?.delete(group);
    if (listener[RUNNING]?.size === 0) process.removeListener("exit", listener);
  };
}
