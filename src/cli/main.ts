#!/usr/bin/env node
import { keepCompiled } from "./compile-cache.ts";

// What is imported after this line comes compiled from the second start on.
keepCompiled();
const { run } = await import("./run.ts");
await run();
