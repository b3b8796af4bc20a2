import { Ensemble, Schedule, Task } from "agentensemble";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { inMemoryBackend } from "../../../src/plugins/network/shared/in-memory/in-memory-backend.js";
import { systemClock } from "../../../src/util/runtime.js";
import { expectAccessible } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { Door } from "./teams.js";

/** Tests of the services in a browser. */
export function serviceTests(browser: () => Promise<Browser>): void {
  describe("services", () => {
    const { boards, open } = openedPages(browser);

    it("show their queue, work, schedules and dead letters, which can be queued again", async () => {
      const { board, url } = await boards.listening();
      const backend = inMemoryBackend({ idTtlMs: 3_600_000, clock: systemClock });
      const request = { v: 1, from: "cellar", to: "kitchen", type: "TASK", task: "cook" } as const;
      await backend.queue.enqueue("kitchen", { ...request, requestId: "dead 1", context: "soup" });
      const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 1_000, leaseMs: 60_000 });
      if (lease !== undefined) await backend.queue.deadLetter(lease, "burnt");
      const door = new Door();
      const cook = new Task({
        description: "Cook {context}",
        handler: async () => {
          await door.opened;
          return "soup";
        },
      });
      const kitchen = new Ensemble({
        name: "kitchen",
        kernel: boards.kernel(board),
        tasks: [new Task({ description: "x", handler: () => "x" })],
        shareTasks: { cook },
        schedules: [{ name: "daily", schedule: Schedule.every(86_400_000), task: "cook" }],
      });
      await kitchen.start({ backend, signals: false });
      boards.later(() => kitchen.stop());
      const { page } = await open(url);
      await page.getByRole("link", { name: "Services" }).click();
      const service = page.getByRole("region", { name: "Service kitchen" });
      await service.getByText("daily").waitFor();
      await service.getByText("burnt").waitFor();
      await expectAccessible(page, "services");
      await page.setViewportSize({ width: 390, height: 844 });
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      expect(wide, "nothing is wider than the screen").to.equal(390);
      await page.keyboard.press("t");
      await expectAccessible(page, "services, narrow, other colours");
      await service.getByRole("button", { name: "Queue again" }).click();
      await service.getByRole("link", { name: "dead 1" }).click();
      await page.waitForURL(/#\/runs\/dead%201/);
      door.open();
      await page.getByText("completed").first().waitFor();
    });
  });
}
