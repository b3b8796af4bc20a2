import { journalContract } from "agentensemble/testing";
import { JournalFolder } from "./journal-folder.js";

journalContract("in a folder", {
  reopens: true,
  shared: true,
  create: () => {
    const folder = new JournalFolder();
    return {
      journal: folder.open(),
      reopen: () => folder.open(),
      another: () => folder.open(),
      abandon: (claim) => folder.abandon(claim),
      dispose: () => folder.close(),
    };
  },
});
