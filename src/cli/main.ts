#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// What is imported after this line comes compiled from the second start on.
enableCompileCache();
const { run } = await import("./run.ts");
await run();
