import { expect } from "chai";
import type { SqlSession } from "../../../../src/plugins/shared/sql/sql-session.js";
import { Notifications } from "../../../../src/plugins/network/postgres/notifications.js";
import { until } from "../../../support/time.js";
import { gate } from "../../../service/support.js";

/** A session whose statements end as the test lets them. */
function heldSession(ends: readonly Promise<void>[]) {
  const sent: number[] = [];
  const query = async (_: string, [, texts]: readonly (readonly string[])[]) => {
    sent.push(texts?.length ?? 0);
    await ends[sent.length - 1];
    return [];
  };
  return { sent, session: { canListen: true, query } as unknown as SqlSession };
}

describe("notifications in PostgreSQL", () => {
  it("reject all callers of a batch that fails, and no others", async () => {
    const [first, second] = [gate(), gate()];
    const failing = second.opened.then(() => {
      throw new Error("no connection");
    });
    const { sent, session } = heldSession([first.opened, failing, Promise.resolve()]);
    const notifications = new Notifications(session, "schema");
    const send = (name: string): Promise<string> =>
      notifications.send("topic", name, "text").then(
        () => `${name} sent`,
        (error: unknown) => `${name} ${String(error)}`,
      );
    const one = send("one");
    await until(() => sent.length === 1);
    const ends = [one, send("two"), send("three")];
    first.open();
    await until(() => sent.length === 2);
    const last = send("four");
    second.open();
    expect(await Promise.all([...ends, last])).to.deep.equal([
      "one sent",
      "two Error: no connection",
      "three Error: no connection",
      "four sent",
    ]);
    expect(sent).to.deep.equal([1, 2, 1]);
  });
});
