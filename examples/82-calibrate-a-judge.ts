// Calibrates a judge. Its grades are compared with labels of people before it is used in an
// evaluation. This simulated judge prefers long answers.
// Run it: npm run example -- 82
import { calibrate, judge, type LabelledSample } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";

// The answers of a team, and whether a person accepts each answer.
const LABELLED: readonly (readonly [output: string, label: boolean])[] = [
  ["Your parcel arrives on 12 May.", true],
  ["It was sent on 3 May and arrives on 6 May, before noon.", true],
  ["On 9 May.", true],
  ["The courier comes on 14 May between 8 and 12 o'clock.", true],
  ["We are so sorry, and we do understand how you feel about it.", false],
  ["Soon.", false],
  ["Parcels are very important to us and to all of our couriers.", false],
  ["We do not know.", false],
];

// Grades by length. If the rubric excludes length, grades by whether the answer has a date.
const model = new ScriptedModel(({ messages }) => {
  const text = JSON.stringify(messages);
  const [answer = ""] = LABELLED.find(([output]) => text.includes(output)) ?? [];
  const isGood = text.includes("whatever its length") ? /\d/.test(answer) : answer.length > 40;
  return JSON.stringify({
    reason: isGood ? "It answers the question." : "It does not help.",
    grade: isGood ? "good" : "poor",
  });
});

const samples = LABELLED.map(([output, label], i): LabelledSample<string, string> => ({
  id: `answer-${i + 1}`,
  input: "When does my parcel arrive?",
  output,
  label,
}));

for (const rubric of [
  "The answer is helpful.",
  "The answer names the day of arrival, whatever its length.",
]) {
  const found = await calibrate({ scorer: judge({ rubric }), samples, model });
  const { agreement, interval, kappa, precision, recall, disagreements } = found;
  const range = `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}`;
  console.log(rubric);
  console.log(`  agreement ${agreement.toFixed(2)} (${range}), kappa ${kappa?.toFixed(2)}`);
  console.log(`  precision ${precision?.toFixed(2)}, recall ${recall?.toFixed(2)}`);
  for (const { id, label, score, reason } of disagreements)
    console.log(`  ${id}: person ${label}, judge ${score} (${reason})`);
}
