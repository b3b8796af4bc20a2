// Exports third-party code. The build bundles this file, because loading many files is slow.
import "reflect-metadata";
export { Container, ContainerModule, inject, injectable } from "inversify";
export { AsyncSeriesBailHook } from "tapable";
