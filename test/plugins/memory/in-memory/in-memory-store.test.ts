import { memoryStoreContract } from "agentensemble/testing";
import { inMemoryStore } from "../../../../src/plugins/memory/in-memory/in-memory-store.js";

memoryStoreContract("in memory", { create: () => ({ store: inMemoryStore() }), shared: true });
