import { Journal } from "agentensemble/durability";
import { journalContract } from "agentensemble/testing";

journalContract("in memory", { create: () => ({ journal: Journal.inMemory() }) });
