/** The messages of the process warnings during `work`. */
export async function warningsOf(work: () => Promise<void>): Promise<readonly string[]> {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", onWarning);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve)); // warnings are emitted one turn later
    return warnings;
  } finally {
    process.off("warning", onWarning);
  }
}
