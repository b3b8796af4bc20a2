// A process that only loads the unbundled container and hooks.
import "reflect-metadata";
import "inversify";
import "node:async_hooks";
import "tapable";
