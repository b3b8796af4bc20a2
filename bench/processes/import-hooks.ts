// A process that loads a container and hooks as they come, and uses nothing of them.
import "reflect-metadata";
import "inversify";
import "node:async_hooks";
import "tapable";
