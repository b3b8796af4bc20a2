import type { Context } from "mocha";
import { needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";

/** A database for the journal of a chaos test whose queue is on another engine. */
export class JournalDatabase {
  readonly #name = `ae_chaos_${process.pid}`;

  get url(): string {
    const url = new URL(POSTGRES_URL);
    url.pathname = `/${this.#name}`;
    return url.href;
  }

  /** Skips the following tests if no server answers. */
  async open(test: Context): Promise<void> {
    await needPostgres(test);
    await onServer(`drop database if exists ${this.#name}`, `create database ${this.#name}`);
  }

  async close(): Promise<void> {
    await onServer(`drop database if exists ${this.#name} with (force)`);
  }
}
