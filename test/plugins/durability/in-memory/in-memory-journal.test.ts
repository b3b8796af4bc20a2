import { InMemoryJournal } from "agentensemble/durability";
import { reviewStoreContract } from "agentensemble/testing";

reviewStoreContract("the inbox of a journal in memory", {
  create: () => {
    const { reviews } = new InMemoryJournal();
    return { store: reviews, reopen: () => reviews };
  },
  reopens: true,
});
