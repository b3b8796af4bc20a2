import { expect } from "chai";
import { layoutGraph, scaleToFit, type Rect } from "../../../page/src/lib/graph-layout.js";
import { graphModel, MAX_NODES, type GraphModel } from "../../../page/src/lib/graph-model.js";
import { wirePath } from "../../../page/src/lib/wire-path.js";
import { createRunState } from "../../../src/plugins/dashboard/protocol/run-state.js";
import { logOf, recordedLog } from "../../plugins/dashboard/logs.js";

async function modelOf(team: string): Promise<GraphModel> {
  const state = createRunState();
  for (const entry of await recordedLog(team)) state.apply(entry);
  return graphModel(state.view);
}

/** A model of `count` tasks and one that waits for all of them. */
function fanIn(count: number): GraphModel {
  const ids = Array.from({ length: count }, (_, i) => `t${i}`);
  const started = ids.map((taskId) => ["task_started", { taskId, agentRole: "A" }] as const);
  const last = { taskId: "sum", agentRole: "A", contextTaskIds: ids };
  const state = createRunState();
  for (const entry of logOf(...started, ["task_started", last])) state.apply(entry);
  return graphModel(state.view);
}

const edgeTexts = ({ edges }: GraphModel): readonly string[] =>
  edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`);

const contains = (outer: Rect, inner: Rect): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;

describe("the graph of a run", () => {
  it("has the tasks and edges of the plan", async () => {
    const { nodes, edges } = await modelOf("parallel");
    expect(nodes.map(({ id }) => id)).to.have.members(["source", "left", "right", "join"]);
    expect(edges.filter(({ kind }) => kind === "context")).to.have.length(4);
  });

  it("places a delegated task below the delegating task", async () => {
    expect(edgeTexts(await modelOf("delegation"))).to.include("way delegation way.1");
  });

  it("combines more than three delegated tasks into a number", () => {
    const worker = (i: number): readonly [string, object] => [
      "task_started",
      { taskId: `way.${i}`, parentTaskId: "way", agentRole: "B" },
    ];
    const state = createRunState();
    const log = logOf(["task_started", { taskId: "way" }], ...[1, 2, 3, 4].map(worker));
    for (const entry of log) state.apply(entry);
    const { nodes } = graphModel(state.view);
    expect(nodes.map(({ id, folded }) => [id, folded])).to.deep.equal([["way", 4]]);
  });

  for (const team of ["phases", "loop"])
    it(`places the tasks of ${team} in their boxes`, async () => {
      const model = await modelOf(team);
      for (const direction of ["down", "right"] as const) {
        const { nodes, boxes } = layoutGraph(model, direction);
        expect(boxes.size).to.equal(model.boxes.length).and.above(0);
        for (const { id, box } of model.nodes) {
          const [inner, outer] = [nodes.get(id), boxes.get(box ?? "")];
          expect(inner && outer && contains(outer, inner), id).to.equal(true);
        }
      }
    });

  it("marks the executed transitions of a state machine, and curves backward transitions", async () => {
    const model = await modelOf("graph");
    const asked = model.edges.find(({ label }) => label === "asked");
    expect(asked).to.include({ kind: "transition", isFired: true });
    const { wires } = layoutGraph(model, "down");
    const again = wires.find(({ edge }) => edge.from === edge.to);
    expect(again?.points).to.equal(undefined);
    expect(wires.find(({ edge }) => edge === asked)?.points).to.deep.equal([]);
  });

  it("draws one node for each level and kind above its limit, and a single task as such", () => {
    expect(fanIn(MAX_NODES - 1).nodes).to.have.length(MAX_NODES);
    const { nodes, edges } = fanIn(MAX_NODES + 50);
    expect(nodes.map(({ tasks, group }) => [tasks.length, group?.level])).to.deep.equal([
      [MAX_NODES + 50, 0],
      [1, undefined],
    ]);
    expect(edges.map(({ from, to }) => [from, to])).to.deep.equal([[nodes[0]?.id, "sum"]]);
  });

  it("keeps its key while only states change", async () => {
    const log = await recordedLog("parallel");
    const [half, whole] = [log.length / 2, log.length].map((end) => {
      const state = createRunState();
      for (const entry of log.slice(0, end)) state.apply(entry);
      return graphModel(state.view).key;
    });
    expect(half).to.equal(whole);
  });

  it("draws edges from border to border, and is never enlarged", () => {
    const rect = (x: number, y: number): Rect => ({ x, y, width: 100, height: 40 });
    expect(wirePath(rect(0, 0), rect(0, 100), [], "down").d).to.equal("M50 40C50 70 50 70 50 100");
    expect(wirePath(rect(0, 0), rect(200, 0), [], "right").d).to.equal(
      "M100 20C150 20 150 20 200 20",
    );
    expect(scaleToFit({ width: 100, height: 400 }, { width: 900, height: 200 })).to.equal(0.5);
    expect(scaleToFit({ width: 10, height: 10 }, { width: 900, height: 200 })).to.equal(1);
  });
});
