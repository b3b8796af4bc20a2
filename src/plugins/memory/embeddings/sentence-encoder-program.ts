/**
 * What runs in the sentence encoder's thread. The package is not only slow: once imported it also takes over the process's handling of errors, which here is the
 * thread's own. Its time grows with the square of a text's length, so long texts are taken in passages, whose vectors are added up.
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
