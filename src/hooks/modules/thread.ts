import { registerOnce } from "./import-module.ts";

registerOnce();
