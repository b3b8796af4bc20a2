/**
 * Program of the sentence encoder's thread. The package is slow, and its import replaces the error
 * handlers of its thread. In a worker, the handlers of the process are unchanged. The time of an
 * embedding grows with the square of the text's length. A long text is therefore split into
 * passages whose vectors are added.
 */
export const SENTENCE_ENCODER_PROGRAM = `
const PASSAGE = 250;
const PASSAGES = 16;
let ready;
async function load() {
  const core = await import(workerData.core);
  await core.ready();
  const { initModel } = await import(workerData.embeddings);
  const { modelSource } = await import(workerData.weights);
  return initModel(modelSource);
}
function passagesOf(text) {
  const passages = [];
  for (let rest = text.trim(); rest !== "" && passages.length < PASSAGES; ) {
    const space = rest.length > PASSAGE ? rest.lastIndexOf(" ", PASSAGE) : -1;
    const end = space > PASSAGE / 2 ? space : PASSAGE;
    passages.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return passages.length > 0 ? passages : [" "];
}
serve({
  async embed(text) {
    const model = await (ready ??= load());
    const sum = new Array(512).fill(0);
    for (const passage of passagesOf(text)) {
      const [vector] = await model.embed([passage]);
      for (const [i, number] of vector.entries()) sum[i] += number;
    }
    const length = Math.hypot(...sum);
    return sum.map((number) => number / length);
  },
});
`;
