/** Where the running commands are kept: at the listener on `process` that ends them. Of all copies of this package there is one. */
const RUNNING = Symbol.for("agentensemble/running-commands");

interface Killable {
  killNow(): void;
}

type ExitListener = (() => void) & { [RUNNING]?: Set<Killable> };

function currentListener(): ExitListener | undefined {
  return (process.listeners("exit") as unknown as readonly ExitListener[]).find(
    (listener) => listener[RUNNING] !== undefined,
  ); // ours bear a set; of others nothing is used
}

function newListener(): ExitListener {
  const running = new Set<Killable>();
  const listener: ExitListener = () => running.forEach((group) => group.killNow());
  listener[RUNNING] = running;
  process.on("exit", listener);
  return listener;
}

/**
 * Ends `group` if this process ends first: by `process.exit()`, an uncaught error, or because a program ends while a command runs. A signal that
 * ends this process without its own listener does not reach this code.
 * @returns a function that takes it back; the listener goes with the last command.
 */
export function killAtExit(group: Killable): () => void {
  const listener = currentListener() ?? newListener();
  listener[RUNNING]?.add(group);
  return () => {
    listener[RUNNING]?.delete(group);
    if (listener[RUNNING]?.size === 0) process.removeListener("exit", listener);
  };
}
