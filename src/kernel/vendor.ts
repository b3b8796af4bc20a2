// The container and the hooks in one module: the build bundles this file, because loading them file by file takes longer than the rest of a cold start.
import "reflect-metadata";
export { Container, ContainerModule, inject, injectable } from "inversify";
export { AsyncSeriesBailHook } from "tapable";
